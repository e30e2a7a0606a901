-- == between an expression and a number, of which Lua itself says that they differ; the second of its line.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local n, mean = 2, a * x
if n == 2 and a == 3 then mean = 2 * mean end
m.observe(y, { mean = mean })
