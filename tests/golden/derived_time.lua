-- A derived quantity that is a function.
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1, bounds = {0, 2} })
m.observe(y, { mean = a * x / second })
m.derived("slope", a * x)
