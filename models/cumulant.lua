local m = model "cumulant" {
    title = "Intensity correlation as a cumulant expansion to second order, in the exponent",
    formula = [[
g2(delay) = baseline + contrast exp(-2 x + pdi x^2),   x = rate delay
]],
    reference = "D. E. Koppel, J. Chem. Phys. 57 (1972) 4814, Siegert relation",
    validity = [[
A narrow distribution of relaxation rates, pdi below 0.3 or so, and the first part of the decay: the expansion
has its minimum at x = 1/pdi and grows without limit after it.  Give delays with x up to 1 or 2.
rate is the mean rate of the field, D q^2 for diffusion; pdi is the variance of the rates over rate^2, the
polydispersity index mu_2/rate^2.  A pdi below 0 is noise, or a baseline that is off.
The model dls_cumulant holds at all delays.]],
}

local delay, g2, sigma = m.columns({ "delay", unit = "s", doc = "delay time" },
                                   { "g2", doc = "normalised intensity correlation" },
                                   { "sigma", doc = "standard deviation of g2" })

local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {1e-6, 1e9}, prior = {"log_uniform"},
    alias = {"Gamma"}, doc = "mean relaxation rate of the field (first cumulant)" })
local pdi = m.parameter("pdi", { start = 0.1, bounds = {-0.5, 1}, prior = {"truncated_normal", 0.1, 0.2},
    doc = "polydispersity index: second cumulant over rate^2" })
local contrast = m.parameter("contrast", { start = 0.2, bounds = {0, 2}, doc = "speckle contrast" })
local baseline = m.parameter("baseline", { start = 1, bounds = {0, 2}, doc = "value at long delays" })

local x = rate * delay
m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma = sigma,
                linear = {contrast, baseline} })

m.random(function(u) return { rate = 10^u(-3, 5), pdi = u(0, 0.3) } end)

-- Test points: the formula above in 40 digits.
m.test { delay = 0.01, rate = 20, pdi = 0.2,  contrast = 0.2, baseline = 1.02, g2 = 1.15514082279212524 }
m.test { delay = 0.1,  rate = 20, pdi = 0.2,  contrast = 0.2, baseline = 1.02, g2 = 1.02815244079567326 }
m.test { delay = 0.05, rate = 20, pdi = -0.1, contrast = 0.2, baseline = 1.02, g2 = 1.04449128565059640 }
