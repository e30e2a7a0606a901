local m = model "dls_cumulant" {
    title = "Dynamic light scattering: moments of the distribution of relaxation rates, to the third",
    formula = [[
g2(delay) = baseline + contrast exp(-2 x) (1 + pdi x^2/2 - skewness x^3/6)^2,   x = rate delay
]],
    reference = "B. J. Frisken, Appl. Opt. 40 (2001) 4087, eq. (24), with mu_2 = pdi rate^2, mu_3 = skewness rate^3",
    validity = [[
One population of relaxation rates that is not too wide: pdi below 0.5 or so.  Unlike the expansion in the
exponent (model cumulant) this one stays finite at all delays, so that the baseline can be fitted.
rate is the mean rate of the field, D q^2 for diffusion, with q = 4 pi n/wavelength sin(angle/2): the
hydrodynamic radius is k T q^2/(6 pi viscosity rate).  The second-order fit of the usual reports is
--fix skewness=0.  Averages are weighted by scattered intensity.]],
}

local delay, g2, sigma = m.columns({ "delay", unit = "s", doc = "delay time" },
                                   { "g2", doc = "normalised intensity correlation" },
                                   { "sigma", doc = "standard deviation of g2" })

local rate = m.parameter("rate", { unit = "1/s", start = 1000, bounds = {1e-3, 1e9}, prior = {"log_uniform"},
    alias = {"Gamma"}, doc = "mean relaxation rate of the field" })
local pdi = m.parameter("pdi", { start = 0.1, bounds = {-0.5, 1}, prior = {"truncated_normal", 0.1, 0.2},
    doc = "variance of the rates over rate^2" })
local skewness = m.parameter("skewness", { start = 0, bounds = {-1, 2}, prior = {"truncated_normal", 0, 0.2},
    doc = "third central moment of the rates over rate^3" })
local contrast = m.parameter("contrast", { start = 0.8, bounds = {0, 2}, alias = {"beta"},
    doc = "coherence factor: g2 - baseline at delay 0" })
local baseline = m.parameter("baseline", { start = 1, bounds = {0, 2}, doc = "value at long delays" })

local x = rate * delay
local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6
local g1 = exp(-x) * moments
m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear = {contrast, baseline} })

m.random(function(u) return { rate = 10^u(0, 6), pdi = u(0, 0.4), skewness = u(-0.05, 0.2) } end)

-- Test points: the formula above in 40 digits.
m.test { delay = 1e-4, rate = 2500, pdi = 0.15, skewness = 0.03, contrast = 0.85, baseline = 1.001,
         g2 = 1.52131475066911692 }
m.test { delay = 1e-3, rate = 2500, pdi = 0.15, skewness = 0.03, contrast = 0.85, baseline = 1.001,
         g2 = 1.01207558263007620 }
m.test { delay = 0.01, rate = 2500, pdi = 0.15, skewness = 0.03, contrast = 0.85, baseline = 1.001,
         g2 = 1.00099999999999989 }
