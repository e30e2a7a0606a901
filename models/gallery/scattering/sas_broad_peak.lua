local m = model "sas_broad_peak" {
    title = "A broad peak on a power",
    formula = [[
I(q) = background + porod/q^n + peak/(1 + (|q - q0| xi)^m);   q^n with q in 1/angstrom]],
    reference = [[
B. Hammouda, Polymer Reviews 50 (2010) 14]],
    validity = "Empirical.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.005, 0.5}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local porod = m.parameter("porod", { unit = "1/cm", start = 1e-5 })
local peak = m.parameter("peak", { unit = "1/cm", start = 10 })
local q0 = m.parameter("q0", { unit = "1/angstrom", start = 0.1, bounds = {0.01, 0.5} })
local xi = m.parameter("xi", { unit = "angstrom", start = 50, bounds = {5, 500} })
local n = m.parameter("n", { start = 3, bounds = {2, 4} })
local power = m.setting("power", { default = 2, doc = "m of the formula" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local off = floor_at(abs((q - q0) * xi), 1e-12)
m.observe(I, { mean = background + porod * (q * angstrom)^(-n) + peak / (1 + off^power), sigma = s })

-- sasmodels 1.1 (broad_peak) has no values of its own: by hand
m.test { q = 0.0625, porod = 1e-5, peak = 10, q0 = 0.125, xi = 48, n = 3, power = 2, background = 0.5, I = 1.54096 }
