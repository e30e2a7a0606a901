local m = model "speckle_counts" {
    title = "Photon counts of dynamic speckle at several exposure times",
    formula = [[
mean of n = rate T,   n is negative binomial with M modes,
1/M = contrast (tau/T + (tau/T)^2 (exp(-2 T / tau) - 1) / 2)]],
    reference = [[
J. W. Goodman, Statistical Optics, Wiley (1985), sections 6.1 and 9.2;
speckle visibility: R. Bandyopadhyay et al., Rev. Sci. Instrum. 76 (2005) 093110]],
    validity = [[
One pixel, or pixels that see different speckles, counted in exposures T; the field decays as exp(-t / tau).
contrast is that of an exposure much shorter than tau: 1 for polarised coherent light and point-like pixels.]],
}

local T, n = m.columns({ "T", unit = "s", doc = "exposure time", range = {0.02, 2} },
                       { "n", unit = "photon", doc = "photons counted in one pixel", range = {0, 30} })

local rate = m.parameter("rate", { unit = "photon/s", start = 10, bounds = {1e-4, 1e7}, prior = {"log_uniform"},
    doc = "mean rate of photons per pixel" })
local tau = m.parameter("tau", { unit = "s", start = 0.2, bounds = {1e-3, 1e3}, prior = {"log_normal", -1.5, 1.5},
    doc = "correlation time of the field" })
local contrast = m.parameter("contrast", { start = 0.5, bounds = {1e-3, 1}, prior = {"beta", 1.5, 1.5},
    doc = "inverse number of modes of a short exposure" })

local x = T / tau
local decay = 1 / x + expm1(-2 * x) / (2 * x^2)   -- 1 for a short exposure, tau/T for a long one

m.observe(n, { mean = rate * T, noise = negative_binomial { modes = 1 / (contrast * decay) } })

m.random(function(u) return { rate = u(2, 30), tau = u(0.1, 1), contrast = u(0.2, 0.9) } end)
m.test { T = 0.5, rate = 12, tau = 0.2, contrast = 0.5, n = 6 }
