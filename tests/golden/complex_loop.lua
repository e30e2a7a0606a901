local m = model "complex_loop" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
local s = 0
for k = 1, 3 do s = s + x^k * a end
m.observe(y, { mean = s * i })
