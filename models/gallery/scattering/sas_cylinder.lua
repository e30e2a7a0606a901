local m = model "sas_cylinder" {
    title = "Cylinders in all directions",
    formula = [[
I(q) = background + scale V (sld - sld_solvent)^2 < F^2 >,   V = pi radius^2 length
F = sinc(q length x/2) 2 J1(y)/y,   y = q radius sqrt(1 - x^2),   x uniform from 0 to 1]],
    reference = [[
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955);
J. S. Pedersen, Adv. Colloid Interface Sci. 70 (1997) 171, equation 17]],
    validity = "Dilute, stiff, no preferred direction; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.005, 0.25}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 4e-6, doc = "scattering length density" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 1e-6, doc = "of the solvent" })
local radius = m.parameter("radius", { unit = "angstrom", start = 20, bounds = {5, 100} })
local length = m.parameter("length", { unit = "angstrom", start = 400, bounds = {50, 600} })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local squares = average({ "uniform", from = 0, to = 1 }, function(x)
    local y = q * radius * sqrt(1 - x^2)
    return (sinc(q * length * x / 2) * 2 * bessel_j(1, y) / y)^2
end, { nodes = 80 })
local V = pi * radius^2 * length
m.observe(I, { mean = background + scale * convert(V * (sld - sld_solvent)^2, "1/cm") * squares, sigma = s })

-- values that sasmodels 1.1 tests itself by (cylinder)
local function point(q, I)
    m.test { q = q, radius = 20, length = 400, scale = 1, background = 0, I = I, tolerance = 1e-8 }
end
point(0.01, 301.823887)
point(0.05, 53.6661653)
point(0.2, 0.0417613868)
