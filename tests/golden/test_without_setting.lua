-- A test without a setting.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
local q = m.setting("q", "1/angstrom")
m.observe("c2", { over = {t1, t2}, mean = exp(-q^2 * integral(D, t1, t2)) })
m.test { D = 1, dt = 0.1, t1 = 0, t2 = 0.2, c2 = 0.9 }
