-- Errors from a column and a law.
local m = model "bad" { title = "x" }
local x, y, s = m.columns("x", "y", "s")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x, sigma = s, noise = laplace { scale = 2 } })
