local m = model "mgh10" {
    title = "Resistance of a thermistor",
    formula = "y(x) = b1 * exp(b2 / (x + b3))",
    reference = [[
R. R. Meyer, in Rosen, Mangasarian, Ritter (eds), Nonlinear Programming, Academic Press
(1970) 465-486;
NIST Statistical Reference Datasets, nonlinear regression: MGH10 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.
A long curved valley: b2 and b3 follow one another over three decades.]],
}

local x, y = m.columns({ "x", doc = "temperature" }, { "y", doc = "resistance" })

local b1 = m.parameter("b1", { start = 0.02, doc = "resistance at high temperature" })
local b2 = m.parameter("b2", { start = 4000, doc = "activation energy as a temperature" })
local b3 = m.parameter("b3", { start = 250, doc = "shift of the temperature" })

local mean = b1 * exp(b2 / (x + b3))
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 50, b1 = 0.02, b2 = 4000, b3 = 250, y = 12348.752538242647 }
m.test { x = 90, b1 = 0.02, b2 = 4000, b3 = 250, y = 2572.627108349815 }
