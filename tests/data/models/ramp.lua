local m = model "ramp" { title = "Diffusion at several temperatures, two-time; for tests" }
local t = m.grid("t", "s")
local T = m.axis("T", { unit = "K", range = {280, 320} })
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {0.01, 100} })
local contrast = m.parameter("contrast", { over = T, start = 0.3, bounds = {0, 1} })
local t1, t2 = pair(t)
m.observe("c2", { over = {T, t1, t2}, mean = 1 + contrast * exp(-2 * rate * T / (300 * unit "K") * (t2 - t1)) })
m.test { rate = 1, T = 300, contrast = 0.3, dt = 0.1, t1 = 1, t2 = 2, c2 = 1 + 0.3 * math.exp(-2) }
