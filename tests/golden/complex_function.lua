local m = model "complex_function" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
m.observe(y, { mean = re(erf(z)) })
