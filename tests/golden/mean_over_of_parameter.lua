-- One contrast for each azimuth, but phi is not in over.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local phi = m.axis("phi", "deg")
local tau = m.parameter("tau", { unit = "s", start = 1 })
local contrast = m.parameter("contrast", { over = phi, start = 0.3 })
local t1, t2 = pair(t)
m.observe("c2", { over = {t1, t2}, mean = 1 + contrast * exp(-abs(t2 - t1) / tau) })
