local m = model "complex_units" { title = "Complex values" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local z = complex(a, x)
local t = m.parameter("t", { unit = "s", start = 1 })
m.observe(y, { mean = abs(complex(t, x)) / second })
