local m = model "sas_mono_gauss_coil" {
    title = "Polymer coils of one length",
    formula = [[
I(q) = background + I0 2 (exp(-z) - 1 + z)/z^2,   z = (q Rg)^2]],
    reference = [[
P. Debye, J. Phys. Colloid Chem. 51 (1947) 18]],
    validity = "Theta solvent or melt, dilute or labelled.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.004, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local I0 = m.parameter("I0", { unit = "1/cm", start = 70 })
local Rg = m.parameter("Rg", { unit = "angstrom", start = 75, bounds = {50, 500}, doc = "radius of gyration" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local z = (q * Rg)^2
m.observe(I, { mean = background + I0 * 2 * (expm1(-z) + z) / z^2, sigma = s })

-- values that sasmodels 1.1 tests itself by (mono_gauss_coil)
m.test { q = 0.0106939, I0 = 70, Rg = 75, background = 0, I = 57.1241, tolerance = 1e-6 }
m.test { q = 0.469418, I0 = 70, Rg = 75, background = 0, I = 0.112859, tolerance = 5e-6 }
