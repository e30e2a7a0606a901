local m = model "eckerle4" {
    title = "Circular interference transmittance",
    formula = "y(x) = b1 / b2 * exp(-((x - b3) / b2)^2 / 2)",
    reference = [[
K. Eckerle, NIST (197?), circular interference transmittance study;
NIST Statistical Reference Datasets, nonlinear regression: Eckerle4 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.
A narrow peak: far from it the width and place have no gradient.]],
}

local x, y = m.columns({ "x", doc = "wavelength" }, { "y", doc = "transmittance" })

local b1 = m.parameter("b1", { start = 1.5, doc = "area of the peak, over sqrt(2 pi)" })
local b2 = m.parameter("b2", { start = 5, bounds = {1e-6, math.huge},
    doc = "width of the peak (standard deviation)" })
local b3 = m.parameter("b3", { start = 450, doc = "place of the peak" })

local mean = b1 / b2 * exp(-((x - b3) / b2)^2 / 2)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 400, b1 = 1.5, b2 = 5, b3 = 450, y = 5.786249543891753e-23 }
m.test { x = 450, b1 = 1.5, b2 = 5, b3 = 450, y = 0.3 }
