local m = model "integrate_units" { title = "integrate_units" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0.5, x, function(u) return exp(-u * a) end) })
