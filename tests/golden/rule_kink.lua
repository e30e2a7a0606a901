local m = model "rule_kink" { title = "rule_kink" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0, 1, function(u) return abs(u - 1 / (1 + a * x)) end) })
