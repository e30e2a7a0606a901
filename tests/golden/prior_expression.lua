-- An expression in a prior.
local m = model "bad" { title = "x" }
local x, n = m.columns("x", "n")
local mu = m.parameter("mu", { start = 1 })
local a = m.parameter("a", { start = 1, prior = normal(2 * mu, 1) })
m.observe(n, { mean = exp(a * x), noise = poisson() })
