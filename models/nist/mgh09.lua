local m = model "mgh09" {
    title = "Rational function of Kowalik and Osborne",
    formula = "y(x) = b1 * (x^2 + x * b2) / (x^2 + x * b3 + b4)",
    reference = [[
J. S. Kowalik, M. R. Osborne, Methods for Unconstrained Optimization Problems, Elsevier (1978);
NIST Statistical Reference Datasets, nonlinear regression: MGH09 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.
From a far start, parameters can run off to infinity.]],
}

local x, y = m.columns({ "x", doc = "concentration" }, { "y", doc = "rate" })

local b1 = m.parameter("b1", { start = 0.25, doc = "value at large x" })
local b2 = m.parameter("b2", { start = 0.39, doc = "numerator, x" })
local b3 = m.parameter("b3", { start = 0.415, doc = "denominator, x" })
local b4 = m.parameter("b4", { start = 0.39, doc = "denominator, constant" })

local mean = b1 * (x^2 + x * b2) / (x^2 + x * b3 + b4)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 4, b1 = 0.25, b2 = 0.39, b3 = 0.415, b4 = 0.39, y = 0.24321329639889197 }
m.test { x = 0.167, b1 = 0.25, b2 = 0.39, b3 = 0.415, b4 = 0.39, y = 0.04773201229900204 }
