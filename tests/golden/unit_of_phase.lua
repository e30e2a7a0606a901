-- A phase in degrees beside radians.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", unit = "ms", range = {0, 50} }, "y")
local f = m.parameter("f", { unit = "Hz", start = 100 })
local phi = m.parameter("phi", { unit = "deg", start = 0, bounds = {-180, 180} })
local turn = 2 * pi * f * t
m.observe(y, { mean = cos(turn + phi) })
