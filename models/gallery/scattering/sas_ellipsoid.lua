local m = model "sas_ellipsoid" {
    title = "Ellipsoids of revolution in all directions",
    formula = [[
I(q) = background + scale V (sld - sld_solvent)^2 < f(q r)^2 >,   V = 4 pi/3 polar equatorial^2
r^2 = equatorial^2 (1 - x^2) + polar^2 x^2,   x uniform from 0 to 1,   f(x) = 3 j1(x)/x]],
    reference = [[
L. A. Feigin and D. I. Svergun, Structure Analysis by Small-Angle X-Ray and Neutron Scattering, Plenum (1987)]],
    validity = "Dilute, no preferred direction; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.002, 0.1}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 4e-6, doc = "scattering length density" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 1e-6, doc = "of the solvent" })
local polar = m.parameter("polar", { unit = "angstrom", start = 20, bounds = {5, 500},
    doc = "radius along the axis" })
local equatorial = m.parameter("equatorial", { unit = "angstrom", start = 400, bounds = {5, 500} })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local function f(x) return 3 * spherical_j(1, x) / x end
local squares = average({ "uniform", from = 0, to = 1 }, function(x)
    return f(q * sqrt(equatorial^2 * (1 - x^2) + polar^2 * x^2))^2
end, { nodes = 80 })
local V = 4 * pi / 3 * polar * equatorial^2
m.observe(I, { mean = background + scale * convert(V * (sld - sld_solvent)^2, "1/cm") * squares, sigma = s })

-- values that sasmodels 1.1 tests itself by (ellipsoid)
m.test { q = 0.05, polar = 20, equatorial = 400, scale = 1, background = 0.001, I = 54.8525847025, tolerance = 1e-9 }
