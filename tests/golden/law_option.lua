-- A law has no such option.
local m = model "bad" { title = "x" }
local x, n = m.columns("x", "n")
local a = m.parameter("a", { start = 1, bounds = {0, 100} })
m.observe(n, { mean = a * x, noise = student_t { sigma = 1, nu = 4 } })
