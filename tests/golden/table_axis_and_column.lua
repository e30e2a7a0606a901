-- The axis of a table is a column by itself.
local m = model "bad" { title = "x" }
local q = m.axis("q", "1/angstrom")
local qq, x, y = m.columns("q:1/angstrom", "x:s", "y")
local a = m.parameter("a", { over = q, start = 1 })
m.observe(y, { mean = a * x / second })
