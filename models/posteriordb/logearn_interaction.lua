local m = model "logearn_interaction" {
    title = "Logarithm of earnings by height, sex and their product",
    formula = [[
log_earn = beta1 + beta2 height + beta3 male + beta4 height male]],
    reference = [[
A. Gelman and J. Hill, Data Analysis Using Regression and Multilevel/Hierarchical Models, Cambridge (2007), section 6.6;
posteriordb: earnings-logearn_interaction]],
    validity = [[
Flat priors; noise level: flat.]],
}

local height, male, log_earn = m.columns(
    { "height", doc = "height, inches" },
    { "male", doc = "1: male" },
    { "log_earn", doc = "logarithm of the earnings" })

local beta1 = m.parameter("beta1", { start = 0, doc = "intercept" })
local beta2 = m.parameter("beta2", { start = 0, doc = "of the height" })
local beta3 = m.parameter("beta3", { start = 0, doc = "of the sex" })
local beta4 = m.parameter("beta4", { start = 0, doc = "of height times sex" })

local mean = beta1 + beta2 * height + beta3 * male + beta4 * height * male
m.observe(log_earn, { mean = mean, noise = {"none"}, linear = {beta1, beta2, beta3, beta4} })
