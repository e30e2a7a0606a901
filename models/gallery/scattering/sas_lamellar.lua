local m = model "sas_lamellar" {
    title = "Lamellae",
    formula = [[
I(q) = background + scale 2 pi P/(thickness q^2),   P = 4 (sld - sld_solvent)^2/q^2 sin^2(q thickness/2)]],
    reference = [[
F. Nallet, R. Laversanne and D. Roux, J. Phys. II France 3 (1993) 487]],
    validity = "Dilute, flat, much wider than thick, no preferred direction.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.001, 0.3}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 1e-6, doc = "scattering length density" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 6e-6, doc = "of the solvent" })
local thickness = m.parameter("thickness", { unit = "angstrom", start = 50, bounds = {5, 500} })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local P = (sld - sld_solvent)^2 * thickness^2 * sinc(q * thickness / 2)^2
m.observe(I, { mean = background + scale * convert(2 * pi * P / (thickness * q^2), "1/cm"), sigma = s })

-- values that sasmodels 1.1 tests itself by (lamellar)
m.test { q = 0.001, thickness = 50, sld = 1e-6, sld_solvent = 6.3e-6, scale = 1, background = 0, I = 882289.54309,
         tolerance = 1e-10 }
