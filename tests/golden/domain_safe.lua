-- The same with floors, clamps and choices: nothing to say.
local m = model "good" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1, bounds = {-2, 2} })
local tau = m.parameter("tau", { start = 1, bounds = {0, 10} })
local w = m.parameter("w", { start = 0.5, bounds = {-1.5, 1.5} })
local k = m.parameter("k", { start = 1, bounds = {0, 1000} })
local root = sqrt(floor_at(1 + a, 0))
local decay = exp(-abs(x) / floor_at(tau, 1e-3))
local angle = asin(clamp(w, -1, 1))
local growth = 1 / (1 + exp(-k * abs(x)))
local ratio = where(lt(abs(a), 1e-8), 1, sin(a) / a)
m.observe(y, { mean = root + decay + angle + growth + ratio, linear = {} })
