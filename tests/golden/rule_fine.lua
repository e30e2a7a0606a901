local m = model "rule_fine" { title = "rule_fine" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0, 1, function(u) return exp(-a * x * u) end, { nodes = 40 }) })
