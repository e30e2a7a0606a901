local m = model "complex_equal" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
if z == 1 then print("one") end
m.observe(y, { mean = re(z) })
