local m = model "eight_schools" {
    title = "Effect of coaching in eight schools",
    formula = [[
effect(school) = mu + tau theta_trans(school),   the effect of a school is theta = mu + tau theta_trans]],
    reference = [[
D. B. Rubin, Estimation in parallel randomized experiments, J. Educ. Stat. 6 (1981) 377;
posteriordb: eight_schools-eight_schools_noncentered]],
    validity = [[
A hierarchical model: theta_trans is normal (0, 1), mu normal (0, 5), tau half-Cauchy of scale 5.  The data bring
their errors.  Eight values for ten parameters: the priors are needed, least squares alone means nothing.]],
}

local school = m.axis("school", "1", "number of the school")
local effect, sigma = m.columns({ "effect", doc = "measured effect of coaching" },
                                { "sigma", doc = "its standard error" })

local tau = m.parameter("tau", { start = 5, bounds = {0, math.huge}, prior = {"half_cauchy", 5},
    doc = "spread of the effects between schools" })
local mu = m.parameter("mu", { start = 0, prior = {"normal", 0, 5}, doc = "mean effect" })
local theta_trans = m.parameter("theta_trans", { over = school, start = 0, prior = {"normal", 0, 1},
    doc = "deviation of a school from the mean, in units of tau" })

m.observe(effect, { mean = mu + tau * theta_trans, sigma = sigma, linear = {mu, theta_trans} })
