local m = model "complex_order" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
m.observe(y, { mean = where(lt(z, 1), x, a) })
