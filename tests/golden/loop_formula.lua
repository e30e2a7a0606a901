local m = model "m" {}
local x, y = m.columns("x:s", "y")
local n = m.parameter("n", { start = 3 })
local s = 0
for k = 1, n do s = s + k * x / second end
m.observe(y, { mean = s })
