local m = model "thurber" {
    title = "Mobility of electrons in a semiconductor",
    formula = "y(x) = (b1 + b2 * x + b3 * x^2 + b4 * x^3) / floor_at(1 + b5 * x + b6 * x^2 + b7 * x^3, 1e-3)",
    reference = [[
R. Thurber, NIST (197?), semiconductor electron mobility modeling;
NIST Statistical Reference Datasets, nonlinear regression: Thurber (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "logarithm of the density" },
                         { "y", doc = "mobility of the electrons" })

local b1 = m.parameter("b1", { start = 1300, doc = "numerator, constant" })
local b2 = m.parameter("b2", { start = 1500, doc = "numerator, x" })
local b3 = m.parameter("b3", { start = 500, doc = "numerator, x^2" })
local b4 = m.parameter("b4", { start = 75, doc = "numerator, x^3" })
local b5 = m.parameter("b5", { start = 1, doc = "denominator, x" })
local b6 = m.parameter("b6", { start = 0.4, doc = "denominator, x^2" })
local b7 = m.parameter("b7", { start = 0.05, doc = "denominator, x^3" })

local mean = (b1 + b2 * x + b3 * x^2 + b4 * x^3) / floor_at(1 + b5 * x + b6 * x^2 + b7 * x^3, 1e-3)
m.observe(y, { mean = mean, linear = {b1, b2, b3, b4} })

m.test { x = -3.067,
         b1 = 1300, b2 = 1500, b3 = 500, b4 = 75, b5 = 1, b6 = 0.4, b7 = 0.05,
         y = -3006.5251998541194 }
m.test { x = -0.915,
         b1 = 1300, b2 = 1500, b3 = 500, b4 = 75, b5 = 1, b6 = 0.4, b7 = 0.05,
         y = 756.4669851709585 }
