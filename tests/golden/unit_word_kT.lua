local m = model "m" {}
local x, y = m.columns({ "x", unit = "kT" }, "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a })
