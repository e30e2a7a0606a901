-- Counts whose mean may be negative.
local m = model "bad" { title = "x" }
local x, n = m.columns({ "x", range = {0, 10} }, { "n", range = {0, 20} })
local a = m.parameter("a", { start = 1, bounds = {0, 100} })
local b = m.parameter("b", { start = -0.1, bounds = {-10, 10} })
m.observe(n, { mean = a + b * x, noise = poisson() })
