local m = model "boxbod" {
    title = "Biochemical oxygen demand",
    formula = "y(x) = b1 * (1 - exp(-b2 * x))",
    reference = [[
G. E. P. Box, W. G. Hunter, J. S. Hunter, Statistics for Experimenters, Wiley (1978) 483-487;
NIST Statistical Reference Datasets, nonlinear regression: BoxBOD (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.
Six points.  From far away the rate runs off to infinity, where only the mean is left to fit.]],
}

local x, y = m.columns({ "x", doc = "incubation time, days" },
                         { "y", doc = "biochemical oxygen demand, mg/l" })

local b1 = m.parameter("b1", { start = 100, doc = "demand after a long time" })
local b2 = m.parameter("b2", { start = 0.75, doc = "rate per day" })

local mean = b1 * (1 - exp(-b2 * x))
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 1, b1 = 100, b2 = 0.75, y = 52.76334472589853 }
m.test { x = 5, b1 = 100, b2 = 0.75, y = 97.64822541439909 }
