-- A standard deviation in another unit.
local m = model "bad" { title = "x" }
local x, y, sigma = m.columns("x:s", "y:count", "sigma:s")
local a = m.parameter("a", { unit = "count/s", start = 1 })
m.observe(y, { mean = a * x, sigma = sigma })
