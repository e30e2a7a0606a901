local m = model "m" {}
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1 })
local s = 0
for _, v in ipairs(x) do s = s + v end
m.observe(y, { mean = a * s })
