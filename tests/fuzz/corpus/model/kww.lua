local m = model "kww" {
    title = "Intensity correlation with a stretched exponential (Kohlrausch, Williams, Watts)",
    formula = "g2(delay) = baseline + contrast exp(-2 (delay/tau)^beta)",
    reference = "Kohlrausch, Ann. Phys. 167 (1854) 179; Williams, Watts, Trans. Faraday Soc. 66 (1970) 80",
    validity = [[
One relaxation with a distribution of rates (beta < 1), or compressed (beta > 1).  tau and beta belong to
the field correlation, which g2 follows by the Siegert relation.]],
}

local delay, g2, sigma = m.columns({ "delay", unit = "s", doc = "delay time" },
                                   { "g2", doc = "normalised intensity correlation" },
                                   { "sigma", doc = "standard deviation of g2" })

local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {1e-9, 1e6}, prior = {"log_uniform"},
    doc = "relaxation time of the field" })
local beta = m.parameter("beta", { start = 1, bounds = {0.05, 3},
    prior = {"truncated_normal", 1, 0.5}, doc = "stretching exponent" })
local contrast = m.parameter("contrast", { start = 0.2, bounds = {0, 2}, doc = "speckle contrast" })
local baseline = m.parameter("baseline", { start = 1, bounds = {0, 2}, doc = "value at long delays" })

local decay = exp(-2 * (delay / tau)^beta)
m.observe(g2, { mean = baseline + contrast * decay, sigma = sigma, linear = {contrast, baseline} })

m.random(function(u) return { tau = 10^u(-3, 3), beta = u(0.3, 2) } end)

m.test { delay = 0.1, tau = 0.3, beta = 0.7, contrast = 0.2, baseline = 1.02, g2 = 1.09915367792294033 }
m.test { delay = 0.1, tau = 2,   beta = 1,   contrast = 0.2, baseline = 1.02, g2 = 1.20096748360719191 }
