-- The shape of an incomplete gamma function lies within 0.1 and 1000.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {0, 10} }, { "y" })
local a = m.parameter("a", { start = 0.5, bounds = {0.2, 1} })
m.observe(y, { mean = a * gamma_p(0.05, x) })
