local m = model "average_unknown" { title = "average_unknown" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = average({ "lognormal", median = a, sd = 0.1 }, function(u) return exp(-u * x) end) })
