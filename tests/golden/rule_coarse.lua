local m = model "rule_coarse" { title = "rule_coarse" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0, 1, function(u) return cos(a * x * u)^2 end, { nodes = 5 }) })
