local m = model "quantities_test" { title = "Several measured quantities" }
local x, y, z, s = m.columns({ "x", range = {0, 1} }, "y", "z", "s")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x, sigma = s })
m.observe(z, { mean = a, sigma = s })
m.test { x = 1, a = 2 }
