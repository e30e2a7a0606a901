-- A parameter of each group must be linear.
local m = model "bad" { title = "x" }
local q = m.axis("q", "1/angstrom")
local x, y = m.columns("x:s", "y")
local tau = m.parameter("tau", { unit = "s", over = q, start = 1 })
m.observe(y, { mean = exp(-x / tau) })
