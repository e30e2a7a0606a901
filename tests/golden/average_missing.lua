local m = model "average_missing" { title = "average_missing" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = average({ "schulz", mean = a }, function(u) return exp(-u * x) end) })
