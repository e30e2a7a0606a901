local m = model "average_prior" { title = "average_prior" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = average(normal(a, 0.1 * a), function(u) return exp(-u * x) end) })
