local m = model "sum_reversed" { title = "sum_reversed" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = sum(5, 1, function(k) return exp(-k * a * x) end) })
