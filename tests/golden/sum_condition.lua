local m = model "sum_condition" { title = "sum_condition" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = sum(1, 5, function(k) return lt(k * a * x, 1) end) })
