-- An element that a table does not have.
local m = model "bad" { title = "x" }
local x, y = m.columns({"x", range={0,1} }, {"y"})
local f = {1, 2, 3}
local a = {}
for k = 1, 3 do a[k] = m.parameter("a" .. k, { start = 1, bounds = {0, 10}, doc="a" }) end
m.observe(y, { mean = a[1] * x + a[4] * x^2 })
