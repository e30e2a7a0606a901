-- A curve that uses a parameter of a group.
local m = model "bad" { title = "x" }
local x, y, sigma = m.columns("x:s", "y:count", "sigma:count")
local a = m.parameter("a", { unit = "count/s", start = 1 })
m.observe(y, { mean = a * x })
m.curve("line", a * x)
