local m = model "m" {}
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x / second, sigma = 0.1 })
