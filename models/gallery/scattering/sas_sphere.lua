local m = model "sas_sphere" {
    title = "Spheres",
    formula = [[
I(q) = background + scale V (sld - sld_solvent)^2 f(q radius)^2,   V = 4 pi/3 radius^3
f(x) = 3 j1(x)/x]],
    reference = [[
Lord Rayleigh, Proc. R. Soc. Lond. A 90 (1914) 219;
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955)]],
    validity = "Dilute, of one size; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.005, 0.3}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 1e-6, doc = "scattering length density" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 6e-6, doc = "of the solvent" })
local radius = m.parameter("radius", { unit = "angstrom", start = 50, bounds = {10, 1000} })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local function f(x) return 3 * spherical_j(1, x) / x end
local V = 4 * pi / 3 * radius^3
m.observe(I, { mean = background + scale * convert(V * (sld - sld_solvent)^2, "1/cm") * f(q * radius)^2, sigma = s })

-- values that sasmodels 1.1 tests itself by (sphere)
m.test { q = 0.2, radius = 50, scale = 1, background = 0.001, I = 0.726362, tolerance = 1e-6 }
local function point(q, I)
    m.test { q = q, radius = 120, sld = 6e-6, sld_solvent = 1e-6, scale = 1, background = 0, I = I, tolerance = 1e-8 }
end
point(0.01, 13483.6265)
point(0.1, 6.20114062)
point(0.2, 0.104733914)
