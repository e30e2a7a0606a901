-- A factor of each frame of the pair, and an angle.
local m = model "frame_factor" { title = "A decaying fraction that oscillates along the flow" }
local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth")
local rate  = m.parameter("rate", { unit = "1/s", start = 0.1, bounds = {0, 10},
    doc = "of the fraction" })
local v     = m.parameter("v", { unit = "1/s", start = 1, bounds = {0, 10},
    doc = "phase velocity" })
local phi0  = m.parameter("phi0", { unit = "deg", start = 0, bounds = {-90, 90},
    doc = "direction of the flow" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1},
    doc = "contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    doc = "baseline" })
local t1, t2 = pair(t)
local f = exp(-rate * t)
local phase = cos(phi0 - phi) * v * (t2 - t1)
m.observe("c2", { over = {phi, t1, t2},
    mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase),
    linear = {contrast, offset} })
