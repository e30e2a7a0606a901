local m = model "hahn1" {
    title = "Thermal expansion of copper",
    formula = "y(x) = (b1 + b2 * x + b3 * x^2 + b4 * x^3) / (1 + b5 * x + b6 * x^2 + b7 * x^3)",
    reference = [[
T. Hahn, NIST (197?), copper thermal expansion study;
NIST Statistical Reference Datasets, nonlinear regression: Hahn1 (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "temperature, K" },
                         { "y", doc = "coefficient of thermal expansion" })

local b1 = m.parameter("b1", { start = 1, doc = "numerator, constant" })
local b2 = m.parameter("b2", { start = -0.1, doc = "numerator, x" })
local b3 = m.parameter("b3", { start = 0.005, doc = "numerator, x^2" })
local b4 = m.parameter("b4", { start = -1e-06, doc = "numerator, x^3" })
local b5 = m.parameter("b5", { start = -0.005, doc = "denominator, x" })
local b6 = m.parameter("b6", { start = 0.0001, doc = "denominator, x^2" })
local b7 = m.parameter("b7", { start = -1e-07, doc = "denominator, x^3" })

local mean = (b1 + b2 * x + b3 * x^2 + b4 * x^3) / (1 + b5 * x + b6 * x^2 + b7 * x^3)
m.observe(y, { mean = mean, linear = {b1, b2, b3, b4} })

m.test { x = 24.41,
         b1 = 1, b2 = -0.1, b3 = 0.005, b4 = -1e-06, b5 = -0.005, b6 = 0.0001, b7 = -1e-07,
         y = 1.627740456642366 }
m.test { x = 117.37,
         b1 = 1, b2 = -0.1, b3 = 0.005, b4 = -1e-06, b5 = -0.005, b6 = 0.0001, b7 = -1e-07,
         y = 34.69826640527316 }
