local m = model "domain_bessel" { title = "Bessel functions of the second kind need positive arguments" }
local x, y = m.columns({ "x", range = {1, 2} }, "y")
local a = m.parameter("a", { start = 1, bounds = {-1, 1} })
local b = m.parameter("b", { start = 1, bounds = {0, 1} })
local c = m.parameter("c", { start = 0.5, bounds = {0, 2} })
m.observe(y, { mean = bessel_y(0, a * x) + bessel_k(2, b * x) + erfinv(c) + bessel_j(3, a) + bessel_i(1, c) })
