-- A loop that builds expressions one upon the other.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
local c = t / second
for k = 1, 300000 do c = sin(c + k) end
m.observe("c2", { over = {t1, t2}, mean = exp(-integral(D, t1, t2) / unit "angstrom^2") })
