local m = model "quantities_name" { title = "A name that is taken" }
local quantity, y, z, s = m.columns("quantity", "y", "z", "s")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * quantity, sigma = s })
m.observe(z, { mean = a, sigma = s })
