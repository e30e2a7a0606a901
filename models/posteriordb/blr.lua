local m = model "blr" {
    title = "Linear regression on five covariates",
    formula = [[
y = beta1 x1 + ... + beta5 x5]],
    reference = [[
posteriordb: sblri-blr]],
    validity = [[
Coefficients: normal of deviation 10; noise level: half-normal of deviation 10.]],
}

local x1, x2, x3, x4, x5, y = m.columns(
    { "x1", doc = "covariate 1" },
    { "x2", doc = "covariate 2" },
    { "x3", doc = "covariate 3" },
    { "x4", doc = "covariate 4" },
    { "x5", doc = "covariate 5" },
    { "y", doc = "outcome" })

local beta1 = m.parameter("beta1", { start = 0, prior = {"normal", 0, 10}, doc = "of x1" })
local beta2 = m.parameter("beta2", { start = 0, prior = {"normal", 0, 10}, doc = "of x2" })
local beta3 = m.parameter("beta3", { start = 0, prior = {"normal", 0, 10}, doc = "of x3" })
local beta4 = m.parameter("beta4", { start = 0, prior = {"normal", 0, 10}, doc = "of x4" })
local beta5 = m.parameter("beta5", { start = 0, prior = {"normal", 0, 10}, doc = "of x5" })

local mean = beta1 * x1 + beta2 * x2 + beta3 * x3 + beta4 * x4 + beta5 * x5
m.observe(y, { mean = mean, noise = {"half_normal", 10}, linear = {beta1, beta2, beta3, beta4, beta5} })
