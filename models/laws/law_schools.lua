local m = model "law_schools" {
    title = "Effect of coaching in eight schools, as a level of a hierarchy",
    reference = "D. B. Rubin, J. Educ. Stat. 6 (1981) 377; posteriordb: eight_schools",
}
local school = m.axis("school", "1", "number of the school")
local effect, sigma = m.columns({ "effect", range = {-10, 30} }, { "sigma", range = {9, 18} })
local mu = m.parameter("mu", { start = 0, prior = {"normal", 0, 5} })
local tau = m.parameter("tau", { start = 5, bounds = {0, math.huge}, prior = {"half_cauchy", 5} })
local theta = m.parameter("theta", { over = school, start = 0, prior = normal(mu, tau) })
m.observe(effect, { mean = theta, noise = gaussian { sd = sigma } })
