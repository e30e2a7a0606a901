-- A name that is another one here.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = ln(1 + a * x) })
