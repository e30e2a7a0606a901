local m = model "sas_vesicle" {
    title = "Vesicles of one layer",
    formula = [[
I(q) = background + volume_fraction F^2/(V(b) - V(radius)),   b = radius + thickness,   V(r) = 4 pi/3 r^3
F = (sld - sld_solvent) (V(b) f(q b) - V(radius) f(q radius)),   f(x) = 3 j1(x)/x]],
    reference = [[
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955)]],
    validity = "Dilute, of one size; volume_fraction is that of the layer.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.0005, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 5e-7,
    doc = "scattering length density of the layer" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 6.36e-6,
    doc = "of the solvent, inside and outside" })
local radius = m.parameter("radius", { unit = "angstrom", start = 100, bounds = {20, 500}, doc = "inner" })
local thickness = m.parameter("thickness", { unit = "angstrom", start = 30, bounds = {5, 100} })
local volume_fraction = m.parameter("volume_fraction", { start = 0.05 })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local function f(x) return 3 * spherical_j(1, x) / x end
local function V(r) return 4 * pi / 3 * r^3 end
local b = radius + thickness
local F = (sld - sld_solvent) * (V(b) * f(q * b) - V(radius) * f(q * radius))
m.observe(I, { mean = background + volume_fraction * convert(F^2 / (V(b) - V(radius)), "1/cm"), sigma = s })

-- values that sasmodels 1.1 tests itself by (vesicle)
local function point(q, I)
    m.test { q = q, radius = 100, thickness = 30, volume_fraction = 0.05, background = 0.001, I = I,
         tolerance = 1e-10 }
end
point(0.0005, 859.916526646)
point(0.100600200401, 1.77063682331)
point(0.5, 0.00355351388906)
