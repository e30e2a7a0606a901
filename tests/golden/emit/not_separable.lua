-- A stretched exponential of an integral: no product of tables, so exp stays in the pair loop.
local m = model "not_separable" { title = "Stretched exponential of an integral" }
local t     = m.grid("t", "s")
local phi   = m.axis("phi", "deg", "azimuth")
local rate  = m.parameter("rate", { unit = "1/s", start = 0.1, bounds = {1e-3, 10},
    doc = "at the start" })
local decay = m.parameter("decay", { unit = "1/s", start = 0.1, bounds = {0, 10},
    doc = "of the rate" })
local beta  = m.parameter("beta", { start = 1, bounds = {0.3, 2}, doc = "stretching exponent" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1},
    doc = "contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    doc = "baseline" })
local t1, t2 = pair(t)
local x = integral(rate * exp(-decay * t), t1, t2)
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp(-x^beta),
    linear = {contrast, offset} })
