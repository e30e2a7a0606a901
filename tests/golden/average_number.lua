local m = model "average_number" { title = "average_number" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = average({ "log_normal", mean = a, sd = 0.1 }, function(u) return exp(-u * x) end) })
