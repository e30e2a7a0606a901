-- An order that is a parameter.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {1, 5} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0.5, 2} })
m.observe(y, { mean = bessel_j(a, x) })
