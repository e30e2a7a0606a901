local m = model "sas_fractal" {
    title = "Fractal aggregates of spheres",
    formula = [[
I(q) = background + scale V (sld - sld_solvent)^2 f(q radius)^2 S,   V = 4 pi/3 radius^3,   f(x) = 3 j1(x)/x
S = 1 + D Gamma(D - 1) sin((D - 1) atan(q xi)) / ((q radius)^D (1 + 1/(q xi)^2)^((D - 1)/2))]],
    reference = [[
J. Teixeira, J. Appl. Cryst. 21 (1988) 781, equation 16]],
    validity = "radius is much smaller than xi, the size of the aggregates; 1 < D < 3.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.0005, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 2e-6,
    doc = "scattering length density of the spheres" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 6.4e-6, doc = "of the solvent" })
local radius = m.parameter("radius", { unit = "angstrom", start = 5, bounds = {2, 50}, doc = "of a sphere" })
local D = m.parameter("D", { start = 2, bounds = {1.1, 3}, doc = "fractal dimension" })
local xi = m.parameter("xi", { unit = "angstrom", start = 100, bounds = {20, 500}, doc = "size of an aggregate" })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction of the spheres" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local function f(x) return 3 * spherical_j(1, x) / x end
local V = 4 * pi / 3 * radius^3
local S = 1 + D * gamma(D - 1) * sin((D - 1) * atan(q * xi)) / ((q * radius)^D * (1 + 1 / (q * xi)^2)^((D - 1) / 2))
m.observe(I, { mean = background + scale * convert(V * (sld - sld_solvent)^2, "1/cm") * f(q * radius)^2 * S,
               sigma = s })

-- values that sasmodels 1.1 tests itself by (fractal)
local function point(q, I)
    m.test { q = q, radius = 5, D = 2, xi = 100, scale = 0.05, background = 0.001, I = I, tolerance = 1e-10 }
end
point(0.0005, 40.4980069872)
point(0.234734468938, 0.0947143166058)
point(0.5, 0.0176878183458)
