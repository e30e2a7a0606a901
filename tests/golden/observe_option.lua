-- A misspelt option.
local m = model "bad" { title = "x" }
local x, y, s = m.columns("x:s", "y", "s")
local a = m.parameter("a", { unit = "1/s", start = 1 })
m.observe(y, { mean = a * x, simga = s })
