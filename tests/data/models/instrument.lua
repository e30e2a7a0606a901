local m = model "instrument" { title = "A decay behind the response of an instrument" }
local t, y = m.columns({ "t", unit = "ns", range = {-2, 50} }, { "y", unit = "1/ns" })
local sigma = m.parameter("sigma", { unit = "ns", start = 0.3, bounds = {0.02, 2} })
local tau = m.parameter("tau", { unit = "ns", start = 2, bounds = {0.05, 20} })
local h = m.parameter("h", { start = 1 })
m.observe(y, { mean = h * exgauss(t, sigma, tau) })
-- mpmath, 40 digits
local function point(t, sigma, tau, y) m.test { t = t, sigma = sigma, tau = tau, h = 1, y = y, tolerance = 2e-14 } end
point(-1, 0.5, 2, 0.0103972642355549488)
point(0, 0.5, 2, 0.20701605147386771)
point(0.25, 0.5, 0.0625, 0.738375939733796291)
point(3, 0.25, 2, 0.112440095842082134)
point(40, 0.125, 8, 0.00084234619407311423)
