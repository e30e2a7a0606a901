local m = model "average_order" { title = "average_order" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = average(function(u) return exp(-u * x) end, { "normal", mean = a, sd = 0.1 * a }) })
