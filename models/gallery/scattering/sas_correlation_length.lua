local m = model "sas_correlation_length" {
    title = "Polymer solutions: a power and a correlation length",
    formula = [[
I(q) = background + porod/q^n + lorentz/(1 + (q xi)^m);   q^n with q in 1/angstrom]],
    reference = [[
B. Hammouda, D. L. Ho and S. Kline, Macromolecules 37 (2004) 6932]],
    validity = "porod and n are of large clusters, lorentz and xi of the solution between them.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.001, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local porod = m.parameter("porod", { unit = "1/cm", start = 1e-6 })
local lorentz = m.parameter("lorentz", { unit = "1/cm", start = 10 })
local xi = m.parameter("xi", { unit = "angstrom", start = 50, bounds = {2, 500}, doc = "correlation length" })
local n = m.parameter("n", { start = 3, bounds = {2.5, 4} })
local power = m.parameter("power", { start = 2, bounds = {1, 2.4}, doc = "m of the formula" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

m.observe(I, { mean = background + porod * (q * angstrom)^(-n) + lorentz / (1 + (q * xi)^power), sigma = s })

-- values that sasmodels 1.1 tests itself by (correlation_length)
local function point(q, I)
    m.test { q = q, porod = 1e-6, lorentz = 10, xi = 50, n = 3, power = 2, background = 0.001, I = I,
         tolerance = 5e-6 }
end
point(0.001, 1009.98)
point(0.150141, 0.175645)
point(0.442528, 0.0213957)
