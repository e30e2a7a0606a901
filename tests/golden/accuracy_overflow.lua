local m = model "accuracy_overflow" { title = "An exponential beyond the range of doubles" }
local x, y = m.columns({ "x", range = {0, 10} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0, 100} })
m.observe(y, { mean = exp(a * x) })
