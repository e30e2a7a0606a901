-- A function of numbers.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local rate = m.parameter("rate", { start = 1 })
m.observe(y, { mean = math.exp(-rate * x) })
