-- A width that may be negative.
local m = model "bad" { title = "x" }
local x, n = m.columns("x", "n")
local tau = m.parameter("tau", { start = 1 })
local a = m.parameter("a", { start = 1, prior = normal(0, tau) })
m.observe(n, { mean = exp(a * x), noise = poisson() })
