local m = model "m" {}
local x, y = m.columns({ "x", unit = "ppm" }, "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a })
