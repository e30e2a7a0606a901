-- Groups are told apart by an axis, not by a column.
local m = model "bad" { title = "x" }
local q, x, y = m.columns("q:1/angstrom", "x:s", "y")
local a = m.parameter("a", { over = q, start = 1 })
m.observe(y, { mean = a * x / second })
