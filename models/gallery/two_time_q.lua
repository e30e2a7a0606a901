local m = model "two_time_q" {
    title = "Two-time correlation at several wavevectors with one law of motion",
    formula = [[
c2(q, t1, t2) = offset(q) + contrast(q) exp(-2 q^2 J),   J = integral from t1 to t2 of D(t)
D = D0 t^alpha   (t in s)]],
    reference = "Siegert relation; G. Brown et al., Phys. Rev. E 56 (1997) 6601, two-time correlation",
    validity = "Diffusion that ages, the same at all q: one matrix for each q.",
}

local t = m.grid("t", "s", { first = 1 })
local q = m.axis("q", { unit = "1/angstrom", range = {0.002, 0.02}, doc = "wavevector: one matrix for each" })
local D0 = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {1, 1e6},
    doc = "diffusion coefficient at 1 s" })
local alpha = m.parameter("alpha", { start = 0, bounds = {-0.9, 2}, doc = "exponent of ageing" })
local contrast = m.parameter("contrast", { over = q, start = 0.2, bounds = {0, 1} })
local offset   = m.parameter("offset", { over = q, start = 1, bounds = {0.5, 1.5} })

local D = D0 * (floor_at(t, t.step / 2) / second)^alpha
local t1, t2 = pair(t)
m.observe("c2", { over = {q, t1, t2}, mean = offset + contrast * exp(-2 * q^2 * integral(D, t1, t2)) })

m.curve("D", D, "diffusion coefficient")
m.random(function(u) return { D0 = 10^u(2, 4), alpha = u(-0.8, 1) } end)

-- trapezoids of 40 digits over the frames
m.test { D0 = 1000, alpha = 0.5, q = 0.002, contrast = 0.2, offset = 1, dt = 1, first_time = 1, t1 = 2, t2 = 12,
         c2 = 1.16268870515599973 }
