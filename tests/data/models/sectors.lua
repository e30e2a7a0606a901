local m = model "sectors" {
    title = "Drift and diffusion at several q and azimuths, for tests",
    formula = "c2 = offset + contrast exp(-2 D q^2 tau) sinc(q v cos(phi) tau)^2",
}
local t = m.grid("t", "s")
local phi = m.axis("phi", "deg")
local q = m.axis("q", { unit = "1/nm", range = {1e-2, 0.2} })
local D = m.parameter("D", { unit = "nm^2/s", start = 60, bounds = {0.1, 1e4} })
local v = m.parameter("v", { unit = "nm/s", start = 20, bounds = {0, 1e4} })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1} })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5} })
local t1, t2 = pair(t)
local lag = t2 - t1
m.observe("c2",
    { over = {phi, q, t1, t2}, mean = offset + contrast * exp(-2 * D * q^2 * lag) * sinc(q * v * cos(phi) * lag)^2 })
m.test { D = 10, v = 0, q = 0.1, phi = 0, contrast = 0.3, offset = 1, dt = 0.1, t1 = 1, t2 = 3,
    c2 = 1 + 0.3 * math.exp(-0.4) }
