-- Units of the same dimension are not converted silently.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
local E = m.parameter("E", { unit = "nm^2/s", start = 1 })
local bad = E + D
m.observe("c2", { over = {t1, t2}, mean = exp(-integral(D, t1, t2) / unit "angstrom^2") })
