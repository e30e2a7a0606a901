local m = model "incomplete" { title = "Incomplete gamma functions of fixed and of fitted shape" }
local x, y = m.columns({ "x", range = {0.001, 30} }, "y")
local s = m.parameter("s", { start = 2, bounds = {0.5, 20} })
local h = m.parameter("h", { start = 1, bounds = {0.1, 3} })
local a = m.parameter("a", { start = 2, bounds = {0.5, 20} })
local b = m.parameter("b", { start = 0.5, bounds = {-1, 1} })
m.observe(y, { mean = h * gamma_p(2.5, x / s) + gamma_q(1, x / s) + gamma_q(0.5, x * s)
                    + b * (gamma_q(a, x / s) + gamma_density(a, x / s)) })
-- mpmath, 40 digits
m.test { x = 1.5, s = 2, h = 3, a = 3.25, b = 1, y = 1.8174854502892086258, tolerance = 1e-13 }
m.test { x = 1.5, s = 2, h = 3, a = 2, b = 0, y = 0.74746298754325796464, tolerance = 1e-13 }
m.test { x = 30, s = 0.5, h = 3, a = 2, b = 0, y = 3.0000000432046305783, tolerance = 1e-13 }
