local m = model "beta_shapes" { title = "Incomplete beta functions of fitted shapes" }
local x, y = m.columns({ "x", range = {0.01, 0.99} }, "y")
local a = m.parameter("a", { start = 2, bounds = {0.2, 40} })
local b = m.parameter("b", { start = 3, bounds = {0.2, 40} })
local h = m.parameter("h", { start = 1 })
m.observe(y, { mean = h * beta_q(b, a, 1 - x) })      -- beta_p(a, b, x)
m.random(function(u) return { a = 10^u(-0.5, 1.5), b = 10^u(-0.5, 1.5) } end)
-- mpmath, 40 digits
local function point(a, b, x, p, q)
    m.test { x = x, a = a, b = b, h = 1, y = p, tolerance = 1e-13 }
    m.test { x = 1 - x, a = b, b = a, h = 1, y = q, tolerance = 1e-13 }
end
point(0.125, 0.25, 0.5, 0.672333655337094147, 0.327666344662905853)
point(2.5, 0.5, 0.125, 0.00196607318256167405, 0.998033926817438326)
point(2.5, 0.5, 0.9375, 0.588724448089683216, 0.411275551910316784)
point(1, 1, 0.25, 0.25, 0.75)
point(8, 3, 0.5, 0.0546875, 0.9453125)
point(30, 0.5, 0.875, 0.00481900253177441273, 0.995180997468225587)
point(20, 40, 0.25, 0.0797041597702586637, 0.920295840229741336)
point(50, 50, 0.5, 0.5, 0.5)
point(50, 50, 0.75, 0.999999956151529541, 4.38484704593346007e-8)
