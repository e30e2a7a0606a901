local m = model "m" {}
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1 })
local function f(z) return 1 + f(z) end
m.observe(y, { mean = a * f(x) })
