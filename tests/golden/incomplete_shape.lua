-- The shape of an incomplete gamma function is a number.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {0, 10} }, { "y" })
local a = m.parameter("a", { start = 0.5, bounds = {0.2, 1} })
m.observe(y, { mean = gamma_p(a, x) })
