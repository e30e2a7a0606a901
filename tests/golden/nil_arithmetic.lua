-- The same in arithmetic of numbers.
local m = model "bad" { title = "x" }
local x, y = m.columns({"x", range={0,1} }, {"y"})
local f = {1, 2, 3}
m.observe(y, { mean = 2 * f[4] })
