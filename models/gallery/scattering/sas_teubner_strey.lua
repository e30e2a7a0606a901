local m = model "sas_teubner_strey" {
    title = "Two phases that penetrate each other: microemulsions",
    formula = [[
I(q) = background + scale 8 pi phi (1 - phi) (sld_a - sld_b)^2 xi^3 / ((1 + k^2)^2 + 2 (1 - k^2) (q xi)^2 + (q xi)^4)
k = 2 pi xi/d]],
    reference = [[
M. Teubner and R. Strey, J. Chem. Phys. 87 (1987) 3195, equations 9 to 11]],
    validity = "phi is known; the peak is at sqrt(k^2 - 1)/xi.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.002, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld_a = m.setting("sld_a", { unit = "1/angstrom^2", default = 3e-7, doc = "scattering length density" })
local sld_b = m.setting("sld_b", { unit = "1/angstrom^2", default = 6.3e-6, doc = "scattering length density" })
local phi = m.setting("phi", { default = 0.5, doc = "part of the volume that is phase a" })
local d = m.parameter("d", { unit = "angstrom", start = 100, bounds = {20, 1000}, doc = "period" })
local xi = m.parameter("xi", { unit = "angstrom", start = 30, bounds = {5, 500}, doc = "correlation length" })
local scale = m.parameter("scale", { start = 1 })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local kk, y = (2 * pi * xi / d)^2, (q * xi)^2
local low = convert(8 * pi * phi * (1 - phi) * (sld_a - sld_b)^2 * xi^3, "1/cm")
m.observe(I, { mean = background + scale * low / ((1 + kk - y)^2 + 4 * y), sigma = s })

-- values that sasmodels 1.1 tests itself by (teubner_strey)
m.test { q = 0.06, d = 100, xi = 30, scale = 1, background = 0.001, I = 41.5918888453, tolerance = 1e-10 }
