local m = model "rat43" {
    title = "Growth of onions: Richards' curve",
    formula = "y(x) = b1 / (1 + exp(b2 - b3 * x))^(1 / b4)",
    reference = [[
D. A. Ratkowsky, Nonlinear Regression Modeling, Marcel Dekker (1983) 62, 88;
NIST Statistical Reference Datasets, nonlinear regression: Rat43 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "growing time" },
                         { "y", doc = "dry weight of bulbs and tops" })

local b1 = m.parameter("b1", { start = 700, doc = "weight after a long time" })
local b2 = m.parameter("b2", { start = 5, doc = "place of the rise times b3" })
local b3 = m.parameter("b3", { start = 0.75, doc = "rate of growth" })
local b4 = m.parameter("b4", { start = 1.3, doc = "asymmetry; 1 is the logistic curve" })

local mean = b1 / (1 + exp(b2 - b3 * x))^(1 / b4)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 1, b1 = 700, b2 = 5, b3 = 0.75, b4 = 1.3, y = 26.336468112011875 }
m.test { x = 8, b1 = 700, b2 = 5, b3 = 0.75, b4 = 1.3, y = 550.1053504646518 }
