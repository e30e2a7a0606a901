-- What can overflow is shown as it was written.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local t0 = m.parameter("t0", { unit = "s", start = 1, bounds = {-1e6, 1e6} })
local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {0.5, 2} })
local z = t - t0
m.observe(y, { mean = exp(-z / tau) })
m.test { t = 1, t0 = 1, tau = 1, y = 1 }
