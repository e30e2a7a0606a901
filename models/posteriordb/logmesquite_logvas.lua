local m = model "logmesquite_logvas" {
    title = "Logarithm of the leaf weight of mesquite bushes by volume, area, shape, height, density and group",
    formula = [[
log_weight = beta1 + beta2 log(diam1 diam2 canopy_height) + beta3 log(diam1 diam2) + beta4 log(diam1/diam2)
             + beta5 log(total_height) + beta6 log(density) + beta7 group]],
    reference = [[
A. Gelman and J. Hill, Data Analysis Using Regression and Multilevel/Hierarchical Models, Cambridge (2007), section 4.6;
posteriordb: mesquite-logmesquite_logvas]],
    validity = [[
Flat priors; noise level: flat.]],
}

local diam1, diam2, canopy_height, total_height, density, group, log_weight = m.columns(
    { "diam1", doc = "longer diameter of the canopy, m" },
    { "diam2", doc = "shorter diameter, m" },
    { "canopy_height", doc = "height of the canopy, m" },
    { "total_height", doc = "height, m" },
    { "density", doc = "plants per unit" },
    { "group", doc = "0 or 1: which survey" },
    { "log_weight", doc = "logarithm of the weight, g" })

local beta1 = m.parameter("beta1", { start = 0, doc = "intercept" })
local beta2 = m.parameter("beta2", { start = 0, doc = "of the volume" })
local beta3 = m.parameter("beta3", { start = 0, doc = "of the area" })
local beta4 = m.parameter("beta4", { start = 0, doc = "of the shape" })
local beta5 = m.parameter("beta5", { start = 0, doc = "of the height" })
local beta6 = m.parameter("beta6", { start = 0, doc = "of the density" })
local beta7 = m.parameter("beta7", { start = 0, doc = "of the group" })

local mean = beta1 + beta2 * log(diam1 * diam2 * canopy_height) + beta3 * log(diam1 * diam2)
           + beta4 * log(diam1 / diam2) + beta5 * log(total_height) + beta6 * log(density) + beta7 * group
m.observe(log_weight, { mean = mean, noise = {"none"}, linear = {beta1, beta2, beta3, beta4, beta5, beta6, beta7} })
