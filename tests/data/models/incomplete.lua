local m = model "incomplete" { title = "Incomplete gamma functions of fixed shape" }
local x, y = m.columns({ "x", range = {0.001, 30} }, "y")
local s = m.parameter("s", { start = 2, bounds = {0.5, 20} })
local h = m.parameter("h", { start = 1, bounds = {0.1, 3} })
m.observe(y, { mean = h * gamma_p(2.5, x / s) + gamma_q(1, x / s) + gamma_q(0.5, x * s) })
-- mpmath, 40 digits
m.test { x = 1.5, s = 2, h = 3, y = 0.74746298754325796464, tolerance = 1e-13 }
m.test { x = 30, s = 0.5, h = 3, y = 3.0000000432046305783, tolerance = 1e-13 }
