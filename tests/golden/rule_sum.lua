local m = model "rule_sum" { title = "rule_sum" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = sum(1, 5, function(k) return exp(-a * x * k) end) })
