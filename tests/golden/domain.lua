-- Expressions that leave their domain inside the bounds.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1, bounds = {-2, 2} })
local tau = m.parameter("tau", { start = 1, bounds = {0, 10} })
local w = m.parameter("w", { start = 0.5, bounds = {-1.5, 1.5} })
local k = m.parameter("k", { start = 1, bounds = {0, 1000} })
local root = sqrt(1 + a)
local decay = exp(-x / tau)
local angle = asin(w)
local growth = exp(k * x)
local pole = 1 / (a - 0.5)
m.observe(y, { mean = root + decay + angle + log(growth + x) + pole, linear = {} })
