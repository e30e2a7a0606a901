local m = model "kirby2" {
    title = "Line width standards of a scanning electron microscope",
    formula = "y(x) = (b1 + b2 * x + b3 * x^2) / (1 + b4 * x + b5 * x^2)",
    reference = [[
R. Kirby, NIST (197?), scanning electron microscope line width standards;
NIST Statistical Reference Datasets, nonlinear regression: Kirby2 (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "place" }, { "y", doc = "intensity" })

local b1 = m.parameter("b1", { start = 1.5, doc = "numerator, constant" })
local b2 = m.parameter("b2", { start = -0.15, doc = "numerator, x" })
local b3 = m.parameter("b3", { start = 0.0025, doc = "numerator, x^2" })
local b4 = m.parameter("b4", { start = -0.0015, doc = "denominator, x" })
local b5 = m.parameter("b5", { start = 2e-05, doc = "denominator, x^2" })

local mean = (b1 + b2 * x + b3 * x^2) / (1 + b4 * x + b5 * x^2)
m.observe(y, { mean = mean, linear = {b1, b2, b3} })

m.test { x = 9.65,
         b1 = 1.5, b2 = -0.15, b3 = 0.0025, b4 = -0.0015, b5 = 2e-05,
         y = 0.28895065457840285 }
m.test { x = 199.97,
         b1 = 1.5, b2 = -0.15, b3 = 0.0025, b4 = -0.0015, b5 = 2e-05,
         y = 47.655862856967715 }
