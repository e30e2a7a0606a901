local m = model "rings" {
    title = "Ageing diffusion at several q, for tests",
    formula = "c2 = offset + contrast exp(-2 q^p D0 integral of t^alpha)",
}
local t = m.grid("t", "s")
local q = m.axis("q", { unit = "1/angstrom", range = {1e-3, 2e-2} })
local D0 = m.parameter("D0", { unit = "angstrom^2/s", start = 8000, bounds = {10, 1e6} })
local power = m.parameter("power", { start = 2, bounds = {1, 3} })
local contrast = m.parameter("contrast", { over = q, start = 0.3, bounds = {0, 1} })
local offset = m.parameter("offset", { over = q, start = 1, bounds = {0.5, 1.5} })
local t1, t2 = pair(t)
local ratio = (q / (0.005 / angstrom))^(power - 2)
m.observe("c2", { over = {q, t1, t2}, mean = offset + contrast * exp(-2 * D0 * q^2 * ratio * (t2 - t1)) })
m.test { D0 = 1000, power = 2, q = 0.01, contrast = 0.3, offset = 1, dt = 0.1, t1 = 1, t2 = 3,
    c2 = 1 + 0.3 * math.exp(-0.4) }
