-- Before m.observe.
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1, bounds = {0, 2} })
m.derived("twice", 2 * a)
m.observe(y, { mean = a * x / second })
