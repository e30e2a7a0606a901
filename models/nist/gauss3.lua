local m = model "gauss3" {
    title = "Two Gaussians that overlap, on an exponential background",
    formula = [[
y(x) = b1 * exp(-b2 * x) + b3 * exp(-(x - b4)^2 / b5^2)
       + b6 * exp(-(x - b7)^2 / b8^2)
]],
    reference = [[
B. Rust, NIST (1996);
NIST Statistical Reference Datasets, nonlinear regression: Gauss3 (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "channel" }, { "y", doc = "counts" })

local b1 = m.parameter("b1", { start = 96, doc = "height of the background" })
local b2 = m.parameter("b2", { start = 0.0096, doc = "decay of the background" })
local b3 = m.parameter("b3", { start = 80, doc = "height of the first peak" })
local b4 = m.parameter("b4", { start = 110, doc = "place of the first peak" })
local b5 = m.parameter("b5", { start = 25, bounds = {1e-6, math.huge},
    doc = "width of the first peak (1/e)" })
local b6 = m.parameter("b6", { start = 74, doc = "height of the second peak" })
local b7 = m.parameter("b7", { start = 139, doc = "place of the second peak" })
local b8 = m.parameter("b8", { start = 25, bounds = {1e-6, math.huge},
    doc = "width of the second peak (1/e)" })

local mean = b1 * exp(-b2 * x) + b3 * exp(-(x - b4)^2 / b5^2)
           + b6 * exp(-(x - b7)^2 / b8^2)
m.observe(y, { mean = mean, linear = {b1, b3, b6} })

m.test { x = 1,
         b1 = 96, b2 = 0.0096, b3 = 80, b4 = 110, b5 = 25, b6 = 74, b7 = 139, b8 = 25,
         y = 95.08281000207842 }
m.test { x = 126,
         b1 = 96, b2 = 0.0096, b3 = 80, b4 = 110, b5 = 25, b6 = 74, b7 = 139, b8 = 25,
         y = 138.21914402459655 }
