-- One value per group, but not linear.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local phi = m.axis("phi", "deg")
local t1, t2 = pair(t)
local a = m.parameter("a", { start = 1, over = phi })
m.observe("c2", { over = {phi, t1, t2}, mean = exp(-a * integral(D, t1, t2) / unit "angstrom^2") })
