local m = model "pair_page" {
    title = "Two-time correlation with a drifting phase",
    reference = "made for the tests",
}
local t, phi = m.grid("t", "s"), m.axis("phi", "deg", "azimuth")
local q = m.setting("q", "1/angstrom", "wavevector")
local D0 = m.parameter("D0_ref", { unit = "angstrom^2/s", start = 1000, bounds = {1, 1e6}, prior = {"log_uniform"} })
local alpha = m.parameter("alpha", { start = 0.5, bounds = {-2, 2} })
local gamma_dot = m.parameter("gamma_dot_t0", { unit = "1/s", start = 0.01, bounds = {0, 1} })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1} })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5} })

local ts = floor_at(t, t.step / 2) / second
local D = D0 * ts^alpha
local t1, t2 = pair(t)
local x = gamma_dot * cos(phi) * (t2 - t1)
local function both(f) return at(f, t1) * at(f, t2) end
local g1 = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(x) * both(1 + ts / 100)
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2 })
m.curve("D", D, "transport coefficient")
m.curve("slope", alpha * D / ts)
m.variant("plain", { mean = offset + contrast * exp(-q^2 * D0 * second * abs(t2 - t1) / second) })
m.test { D0_ref = 100, alpha = 0, gamma_dot_t0 = 0, q = 0.005, phi = 0, dt = 0.1, t1 = 0, t2 = 0.1,
         contrast = 0.3, offset = 1, c2 = 1.3, tolerance = 1, variant = "plain" }
