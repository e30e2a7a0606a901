-- What people call a parameter that enters linearly.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.linear("a")
m.observe(y, { mean = a * x })
