local m = model "law_rate" {
    title = "One rate of counts, for tests",
    validity = "The prior is exponential, a gamma density of shape 1: so is the posterior, exactly.",
}
local T, n = m.columns({ "T", unit = "s", range = {0.5, 3} }, { "n", unit = "count", range = {0, 20} })
local rate = m.parameter("rate", { unit = "count/s", start = 5, bounds = {0, math.huge}, prior = {"exponential", 4} })
m.observe(n, { mean = rate * T, noise = poisson() })
