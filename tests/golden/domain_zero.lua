-- Divisors whose bounds contain 0, at an end and inside; a guarded one, and an exponent that stays positive, are right.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {0.1, 10} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0, 10} })
local tau = m.parameter("tau", { start = 1, bounds = {0, 10} })
local s = m.parameter("s", { start = 1, bounds = {-1, 10} })
local b = m.parameter("b", { start = 0.5, bounds = {0.1, 3} })
local stretched = exp(-(x / tau)^b)
local either = exp(-(x / s)^b)
local guarded = exp(-(x / floor_at(tau, 1e-3))^b)
local power = tau^b
m.observe(y, { mean = a * (stretched + either + guarded + power) })
