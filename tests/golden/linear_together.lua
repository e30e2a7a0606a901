-- A product of two linear parameters.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
local a = m.parameter("a", { start = 1, linear = true })
local b = m.parameter("b", { start = 1, linear = true })
m.observe("c2", { over = {t1, t2}, mean = a * b * exp(-integral(D, t1, t2) / unit "angstrom^2") })
