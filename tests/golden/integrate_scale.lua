local m = model "integrate_scale" { title = "integrate_scale" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = a * integrate(x, math.huge, function(u) return exp(-u * a) end) })
