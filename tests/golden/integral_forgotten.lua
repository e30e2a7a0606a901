-- A rate where its integral should be.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local q = m.setting("q", "1/angstrom")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1000 })
local t1, t2 = pair(t)
m.observe("c2", { over = {t1, t2}, mean = exp(-2 * q^2 * D) })
