local m = model "gauss1" {
    title = "Two well separated Gaussians on an exponential background",
    formula = [[
y(x) = b1 * exp(-b2 * x) + b3 * exp(-(x - b4)^2 / b5^2)
       + b6 * exp(-(x - b7)^2 / b8^2)
]],
    reference = [[
B. Rust, NIST (1996);
NIST Statistical Reference Datasets, nonlinear regression: Gauss1 (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "channel" }, { "y", doc = "counts" })

local b1 = m.parameter("b1", { start = 94, doc = "height of the background" })
local b2 = m.parameter("b2", { start = 0.0105, doc = "decay of the background" })
local b3 = m.parameter("b3", { start = 99, doc = "height of the first peak" })
local b4 = m.parameter("b4", { start = 63, doc = "place of the first peak" })
local b5 = m.parameter("b5", { start = 25, bounds = {1e-6, math.huge},
    doc = "width of the first peak (1/e)" })
local b6 = m.parameter("b6", { start = 71, doc = "height of the second peak" })
local b7 = m.parameter("b7", { start = 180, doc = "place of the second peak" })
local b8 = m.parameter("b8", { start = 20, bounds = {1e-6, math.huge},
    doc = "width of the second peak (1/e)" })

local mean = b1 * exp(-b2 * x) + b3 * exp(-(x - b4)^2 / b5^2)
           + b6 * exp(-(x - b7)^2 / b8^2)
m.observe(y, { mean = mean, linear = {b1, b3, b6} })

m.test { x = 1,
         b1 = 94, b2 = 0.0105, b3 = 99, b4 = 63, b5 = 25, b6 = 71, b7 = 180, b8 = 20,
         y = 93.22929388763309 }
m.test { x = 126,
         b1 = 94, b2 = 0.0105, b3 = 99, b4 = 63, b5 = 25, b6 = 71, b7 = 180, b8 = 20,
         y = 25.25680321583611 }
