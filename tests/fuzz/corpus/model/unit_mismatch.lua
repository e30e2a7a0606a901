-- Units of the terms of a sum.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
local shear = m.parameter("shear", { unit = "1/s", start = 1 })
local bad = D + shear
local worse = 2 * D - exp(-shear * second) / second
m.observe("c2", { over = {t1, t2}, mean = exp(-integral(D, t1, t2) / unit "angstrom^2") })
