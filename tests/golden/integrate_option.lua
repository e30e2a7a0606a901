local m = model "integrate_option" { title = "integrate_option" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = integrate(0, 1, function(u) return exp(-u * a * x) end, { node = 10 }) })
