-- A misspelt unit.
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { unit = "1/secs", start = 1 })
m.observe(y, { mean = a * x })
