local m = model "complex_compared" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
if z > 1 then print("large") end
m.observe(y, { mean = re(z) })
