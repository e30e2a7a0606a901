local m = model "complex_unit_of_exp" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
local t = m.parameter("t", { unit = "s", start = 1 })
m.observe(y, { mean = a + re(exp(i * t)) })
