local m = model "chwirut2" {
    title = "Ultrasonic reference block, a part of the measurements",
    formula = "y(x) = exp(-b1 * x) / (b2 + b3 * x)",
    reference = [[
D. Chwirut, NIST (197?), ultrasonic reference block study;
NIST Statistical Reference Datasets, nonlinear regression: Chwirut2 (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "metal distance" }, { "y", doc = "ultrasonic response" })

local b1 = m.parameter("b1", { start = 0.15, doc = "attenuation per distance" })
local b2 = m.parameter("b2", { start = 0.008, doc = "inverse response at no distance" })
local b3 = m.parameter("b3", { start = 0.01, doc = "growth of the inverse response" })

local mean = exp(-b1 * x) / (b2 + b3 * x)
m.observe(y, { mean = mean })

m.test { x = 0.5, b1 = 0.15, b2 = 0.008, b3 = 0.01, y = 71.36488356373484 }
m.test { x = 0.5, b1 = 0.15, b2 = 0.008, b3 = 0.01, y = 71.36488356373484 }
