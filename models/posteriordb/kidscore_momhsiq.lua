local m = model "kidscore_momhsiq" {
    title = "Test scores of children by education and score of the mother",
    formula = [[
kid_score = beta1 + beta2 mom_hs + beta3 mom_iq]],
    reference = [[
A. Gelman and J. Hill, Data Analysis Using Regression and Multilevel/Hierarchical Models, Cambridge (2007), chapter 3;
posteriordb: kidiq-kidscore_momhsiq]],
    validity = [[
Flat priors; noise level: half-Cauchy of scale 2.5.]],
}

local mom_hs, mom_iq, kid_score = m.columns(
    { "mom_hs", doc = "1: the mother finished high school" },
    { "mom_iq", doc = "score of the mother" },
    { "kid_score", doc = "score of the child" })

local beta1 = m.parameter("beta1", { start = 0, doc = "intercept" })
local beta2 = m.parameter("beta2", { start = 0, doc = "of the education" })
local beta3 = m.parameter("beta3", { start = 0, doc = "of the mother's score" })

local mean = beta1 + beta2 * mom_hs + beta3 * mom_iq
m.observe(kid_score, { mean = mean, noise = {"half_cauchy", 2.5}, linear = {beta1, beta2, beta3} })
