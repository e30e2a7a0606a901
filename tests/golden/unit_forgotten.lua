-- A rate without its unit.
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local rate = m.parameter("rate", { start = 1 })
m.observe(y, { mean = exp(-rate * x) })
