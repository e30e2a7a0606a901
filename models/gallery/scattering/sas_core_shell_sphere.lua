local m = model "sas_core_shell_sphere" {
    title = "Spheres with a core and a shell",
    formula = [[
I(q) = background + (scale/V(b)) F^2,   b = radius + thickness,   V(r) = 4 pi/3 r^3
F = (sld_core - sld_shell) V(radius) f(q radius) + (sld_shell - sld_solvent) V(b) f(q b),   f(x) = 3 j1(x)/x]],
    reference = [[
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955)]],
    validity = "Dilute, of one size; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.005, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld_core = m.setting("sld_core", { unit = "1/angstrom^2", default = 1e-6,
    doc = "scattering length density of the core" })
local sld_shell = m.setting("sld_shell", { unit = "1/angstrom^2", default = 2e-6, doc = "of the shell" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 3e-6, doc = "of the solvent" })
local radius = m.parameter("radius", { unit = "angstrom", start = 60, bounds = {10, 500}, doc = "of the core" })
local thickness = m.parameter("thickness", { unit = "angstrom", start = 10, bounds = {1, 200}, doc = "of the shell" })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local function f(x) return 3 * spherical_j(1, x) / x end
local function V(r) return 4 * pi / 3 * r^3 end
local b = radius + thickness
local F = (sld_core - sld_shell) * V(radius) * f(q * radius) + (sld_shell - sld_solvent) * V(b) * f(q * b)
m.observe(I, { mean = background + scale * convert(F^2 / V(b), "1/cm"), sigma = s })

-- values that sasmodels 1.1 tests itself by (core_shell_sphere)
m.test { q = 0.4, radius = 60, thickness = 10, scale = 1, background = 0, I = 0.000698838, tolerance = 1e-6 }
