-- A name that is taken.
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1, bounds = {0, 2} })
m.observe(y, { mean = a * x / second })
m.derived("a", 2 * a)
