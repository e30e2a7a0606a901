-- A power as Python writes it.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local rate = m.parameter("rate", { start = 1 })
m.observe(y, { mean = exp(-rate * x**2) })
