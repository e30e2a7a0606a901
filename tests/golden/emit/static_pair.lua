-- Two times, nothing but an exponential of one integral.
local m = model "static_pair" { title = "Diffusion with a rate that changes in time" }
local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth")
local q   = m.setting("q", "1/angstrom", "wavevector")
local D0  = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {1, 1e6},
    doc = "at 1 s" })
local alpha = m.parameter("alpha", { start = 0, bounds = {-2, 2}, doc = "exponent" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1},
    doc = "contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    doc = "baseline" })
local t1, t2 = pair(t)
local D = D0 * (floor_at(t, t.step / 2) / second)^alpha
m.observe("c2", { over = {phi, t1, t2},
    mean = offset + contrast * exp(-2 * q^2 * integral(D, t1, t2)),
    linear = {contrast, offset} })
m.curve("D", D, "diffusion coefficient")
