-- A noise distribution for pairs of frames.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local t1, t2 = pair(t)
local a = m.parameter("a", { unit = "1/s", start = 1 })
m.observe("c2", { mean = exp(-a * (t2 - t1)), noise = poisson() })
