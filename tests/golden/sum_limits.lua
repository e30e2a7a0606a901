local m = model "sum_limits" { title = "sum_limits" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = sum(1, a * x, function(k) return exp(-k * a * x) end) })
