local m = model "accuracy_domain" { title = "A logarithm that leaves its domain" }
local x, y = m.columns({ "x", range = {0, 10} }, "y")
local a = m.parameter("a", { start = -1, bounds = {-2, 2} })
local b = m.parameter("b", { start = 1, bounds = {0.1, 3} })
m.observe(y, { mean = b * log(x - a) })
