local m = model "integrate_reversed" { title = "integrate_reversed" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(1, 0, function(u) return exp(-u * a * x) end) })
