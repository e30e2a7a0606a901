local m = model "sas_guinier_porod" {
    title = "Objects of a generalised shape: Guinier's law, then a power",
    formula = [[
I(q) = background + scale exp(-q^2 Rg^2/(3 - s))/q^s     q < q1,   q1 = sqrt((d - s)(3 - s)/2)/Rg
I(q) = background + scale exp(-(d - s)/2) q1^(d - s)/q^d   q >= q1;   q in 1/angstrom]],
    reference = [[
B. Hammouda, J. Appl. Cryst. 43 (2010) 716, equations 3 and 4]],
    validity = "s is 0 for spheres, 1 for rods, 2 for lamellae.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.002, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local Rg = m.parameter("Rg", { unit = "angstrom", start = 60, bounds = {5, 500}, doc = "radius of gyration" })
local shape = m.parameter("shape", { start = 1, bounds = {0, 2}, doc = "3 - dimension of the object" })
local d = m.parameter("d", { start = 3, bounds = {2.5, 4}, doc = "Porod exponent" })
local scale = m.parameter("scale", { unit = "1/cm", start = 1 })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local x, n = q * Rg, d - shape
local x1 = sqrt(n * (3 - shape) / 2)
local size = Rg / angstrom
local near = exp(-x^2 / (3 - shape)) * x^(-shape)
local far = exp(-n / 2) * x1^n * x^(-d)
m.observe(I, { mean = background + scale * size^shape * where(lt(x, x1), near, far), sigma = s })

-- values that sasmodels 1.1 tests itself by (guinier_porod)
m.test { q = 0.04, Rg = 60, shape = 1, d = 3, scale = 1.5, background = 0.5, I = 5.290096890253155,
         tolerance = 1e-13 }
