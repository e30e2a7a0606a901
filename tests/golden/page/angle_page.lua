local m = model "angle_page" { title = "An oscillation with a phase in degrees" }
local t, y = m.columns({ "t", unit = "s", range = {0, 1} }, "y")
local f = m.parameter("f", { unit = "Hz", start = 3, bounds = {0.1, 100} })
local phi0 = m.parameter("phi0", { unit = "deg", start = 10, bounds = {-180, 180} })
m.observe(y, { mean = cos(360 * deg * f * t + phi0) })
m.test { t = 0, f = 1, phi0 = 60, y = 0.5 }
