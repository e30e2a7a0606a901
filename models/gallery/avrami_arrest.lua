local m = model "avrami_arrest" {
    title = "Two-time correlation of particles whose motion stops as the sample crystallises",
    formula = [[
c2 = offset + contrast exp(-2 q^2 J),   J = integral from t1 to t2 of D0 (1 - X(t))
X(t) = 1 - exp(-(t/tau)^n), the crystallised fraction]],
    reference = [[
M. Avrami, J. Chem. Phys. 7 (1939) 1103; Siegert relation;
A. Fluerasu et al., Phys. Rev. E 76 (2007) 010401, two-time correlation of ageing]],
    accuracy = 1000, -- late, when nothing moves, differences of the integral lose digits that no c2 shows
    validity = "Particles in crystals stand still and scatter as before; nuclei are small beside 1/q.",
}

local t, phi = m.grid("t", "s"), m.axis("phi", "deg", "azimuth of the sector")
local q = m.setting("q", "1/angstrom", "wavevector")
local D0  = m.parameter("D0", { unit = "angstrom^2/s", start = 1e4, bounds = {1, 1e6},
    doc = "diffusion in the liquid" })
local tau = m.parameter("tau", { unit = "s", start = 10, bounds = {1, 1e4},
    doc = "time of crystallisation" })
local n   = m.parameter("n", { start = 3, bounds = {0.5, 5},
    doc = "Avrami exponent: 4 in space, 3 in a plane, with steady nucleation" })
local contrast = m.parameter("contrast", { over = phi, start = 0.2, bounds = {0, 1} })
local offset   = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5} })

local liquid = exp(-(floor_at(t, t.step / 2) / tau)^n)                   -- 1 - X
local D = D0 * liquid

local t1, t2 = pair(t)
local g1 = exp(-q^2 * integral(D, t1, t2))
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2 })

m.curve("D", D, "diffusion coefficient, averaged over both phases")
m.curve("X", 1 - liquid, "crystallised fraction")
m.random(function(u) return { D0 = 10^u(3, 5), tau = u(3, 30), n = u(1, 4) } end)

-- trapezoids of 40 digits over the frames
m.test { D0 = 1e4, tau = 10, n = 3, q = 0.002, phi = 0, contrast = 0.2, offset = 1, dt = 1, t1 = 2, t2 = 12,
         c2 = 1.11788260321359042 }
