-- Test points that leave parameters at their starts; the second is missed.
local m = model "check" { title = "x" }
local t, y = m.columns("t:s", "y")
local A = m.parameter("A", { start = 1 })
local B = m.parameter("B", { start = 0.5 })
local tau = m.parameter("tau", { unit = "s", start = 2, bounds = {0.1, 10} })
m.observe(y, { mean = A * exp(-t / tau) + B })
m.test { t = 0, A = 1, y = 1.5 }
m.test { t = 0, y = 1 }
