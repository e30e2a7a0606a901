-- The square of a product of two exponentials, one of which depends on the azimuth: tables all the same.
local m = model "lorentz_flow" {
    title = "Diffusion that settles, and a Lorentzian distribution of velocities",
}
local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth")
local q   = m.setting("q", "1/angstrom", "wavevector")
local D0  = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {0, 1e6},
    doc = "diffusion at the start" })
local tau = m.parameter("tau", { unit = "s", start = 5, bounds = {0.1, 1e4}, doc = "time of settling" })
local w   = m.parameter("w", { unit = "nm/s", start = 1, bounds = {0, 1e4}, doc = "half width of the velocities" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1}, doc = "contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5}, doc = "baseline" })
local t1, t2 = pair(t)
local diffusion = exp(-q^2 * integral(D0 * exp(-t / tau), t1, t2))
local flow = exp(convert(-q * abs(cos(phi)) * integral(w * exp(-t / tau), t1, t2), "1"))
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * (diffusion * flow)^2 })
m.test { D0 = 3000, tau = 8, w = 0.4, q = 0.005, phi = 60, contrast = 0.25, offset = 1,
         dt = 0.1, t1 = 2, t2 = 5, c2 = 1.1795121839899532 }
