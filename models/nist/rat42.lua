local m = model "rat42" {
    title = "Yield of a pasture: logistic growth",
    formula = "y(x) = b1 / (1 + exp(b2 - b3 * x))",
    reference = [[
D. A. Ratkowsky, Nonlinear Regression Modeling, Marcel Dekker (1983) 61, 88;
NIST Statistical Reference Datasets, nonlinear regression: Rat42 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "growing time" }, { "y", doc = "yield" })

local b1 = m.parameter("b1", { start = 75, doc = "yield after a long time" })
local b2 = m.parameter("b2", { start = 2.5, doc = "place of the rise times b3" })
local b3 = m.parameter("b3", { start = 0.07, doc = "rate of growth" })

local mean = b1 / (1 + exp(b2 - b3 * x))
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 9, b1 = 75, b2 = 2.5, b3 = 0.07, y = 10.015629189990936 }
m.test { x = 42, b1 = 75, b2 = 2.5, b3 = 0.07, y = 45.61942730598859 }
