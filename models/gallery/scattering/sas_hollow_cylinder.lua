local m = model "sas_hollow_cylinder" {
    title = "Hollow cylinders in all directions",
    formula = [[
I(q) = background + scale V (sld - sld_solvent)^2 < F^2 >,   V = pi (b^2 - radius^2) length,   b = radius + thickness
F = sinc(q length x/2) (b^2 L(q b w) - radius^2 L(q radius w))/(b^2 - radius^2),   L(y) = 2 J1(y)/y
w = sqrt(1 - x^2),   x uniform from 0 to 1]],
    reference = [[
L. A. Feigin and D. I. Svergun, Structure Analysis by Small-Angle X-Ray and Neutron Scattering, Plenum (1987)]],
    validity = "Dilute, open at both ends, no preferred direction; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.001, 0.25}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 6.3e-6,
    doc = "scattering length density of the wall" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 1e-6,
    doc = "of the solvent, inside and outside" })
local radius = m.parameter("radius", { unit = "angstrom", start = 20, bounds = {5, 100}, doc = "inner" })
local thickness = m.parameter("thickness", { unit = "angstrom", start = 10, bounds = {3, 50}, doc = "of the wall" })
local length = m.parameter("length", { unit = "angstrom", start = 400, bounds = {50, 600} })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local b = radius + thickness
local function disc(r, w) return 2 * r^2 * bessel_j(1, q * r * w) / (q * r * w) end
local squares = average({ "uniform", from = 0, to = 1 }, function(x)
    local w = sqrt(1 - x^2)
    return (sinc(q * length * x / 2) * (disc(b, w) - disc(radius, w)))^2
end, { nodes = 80 })
local wall = b^2 - radius^2
m.observe(I, { mean = background + scale * convert(pi * length * (sld - sld_solvent)^2 * squares / wall, "1/cm"),
               sigma = s })

-- values that sasmodels 1.1 tests itself by (hollow_cylinder)
m.test { q = 0.001, radius = 20, thickness = 10, length = 400, scale = 1, background = 0.001, I = 1756.76,
         tolerance = 1e-5 }
m.test { q = 5e-5, radius = 20, thickness = 10, length = 400, scale = 1, background = 0.001, I = 1764.926,
         tolerance = 1e-6 }
