local m = model "mgh17" {
    title = "Two exponentials and a constant",
    formula = "y(x) = b1 + b2 * exp(-x * b4) + b3 * exp(-x * b5)",
    reference = [[
M. R. Osborne, in Lootsma (ed.), Numerical Methods for Nonlinear Optimization, Academic Press
(1972) 171-189;
NIST Statistical Reference Datasets, nonlinear regression: MGH17 (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.
The two decays nearly cancel.  Their order is a matter of the start.]],
}

local x, y = m.columns({ "x", doc = "time" }, { "y", doc = "sum of the decays" })

local b1 = m.parameter("b1", { start = 0.5, doc = "constant" })
local b2 = m.parameter("b2", { start = 1.5, doc = "amplitude of the first decay" })
local b3 = m.parameter("b3", { start = -1, doc = "amplitude of the second decay" })
local b4 = m.parameter("b4", { start = 0.01, doc = "rate of the first decay" })
local b5 = m.parameter("b5", { start = 0.02, doc = "rate of the second decay" })

local mean = b1 + b2 * exp(-x * b4) + b3 * exp(-x * b5)
m.observe(y, { mean = mean, linear = {b1, b2, b3} })

m.test { x = 0, b1 = 0.5, b2 = 1.5, b3 = -1, b4 = 0.01, b5 = 0.02, y = 1.0 }
m.test { x = 160, b1 = 0.5, b2 = 1.5, b3 = -1, b4 = 0.01, b5 = 0.02, y = 0.7620825730136169 }
