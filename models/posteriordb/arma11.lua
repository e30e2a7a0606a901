local m = model "arma11" {
    title = "Autoregressive moving average of order (1, 1)",
    formula = "y[t] = mu + phi y[t-1] + theta e[t-1] + e[t],   e[t] ~ normal(0, sigma)",
    reference = "posteriordb arma-arma11; Box and Jenkins, Time Series Analysis (1970)",
}
local y = m.columns({ "y", range = {-2, 2} })
local mu    = m.parameter("mu", { start = 0, prior = normal(0, 10) })
local phi   = m.parameter("phi", { start = 0.5, prior = normal(0, 2) })
local theta = m.parameter("theta", { start = 0, prior = normal(0, 2) })
local sigma = m.parameter("sigma", { start = 0.3, bounds = {0, math.huge}, prior = {"half_cauchy", 2.5} })

local e = m.state("e", { before = 0, doc = "what was measured less its mean" })
local mean = mu + phi * previous(y, mu) + theta * previous(e)
m.step(e, y - mean)
m.observe(y, { mean = mean, noise = gaussian { sd = sigma } })
