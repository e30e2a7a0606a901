local m = model "integrate_infinite_gauss" { title = "integrate_infinite_gauss" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0, math.huge, function(u) return exp(-u * a * x) end, { rule = "gauss" }) })
