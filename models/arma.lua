local m = model "arma" {
    title = "Autoregressive moving average of order (1, 1)",
    formula = "y[n] = mu + phi (y[n-1] - mu) + theta e[n-1] + e[n],   e[n] is normal (0, sigma)",
    reference = "G. E. P. Box and G. M. Jenkins, Time Series Analysis (1970), section 3.4",
    validity = "Equal steps of time; -1 < phi < 1 and -1 < theta < 1.  Before the first row y was mu, and e 0.",
}

local y = m.columns({ "y", range = {-5, 5} })
local mu    = m.parameter("mu", { start = 0, prior = normal(0, 10), doc = "mean" })
local phi   = m.parameter("phi", { start = 0.5, bounds = {-0.999, 0.999},
    doc = "part of the last deviation that stays" })
local theta = m.parameter("theta", { start = 0.1, bounds = {-0.999, 0.999},
    doc = "part of the last shock that comes back" })
local sigma = m.parameter("sigma", { start = 0.5, bounds = {1e-6, 1e3}, prior = {"half_normal", 10},
    doc = "of a shock" })

local e = m.state("e", { before = 0, doc = "shock: what was measured less its mean" })
local mean = mu + phi * previous(y - mu, 0) + theta * previous(e)
m.step(e, y - mean)
m.observe(y, { mean = mean, noise = gaussian { sd = sigma } })

m.random(function(u) return { mu = u(-1, 1), phi = u(-0.9, 0.9), theta = u(-0.9, 0.9), sigma = 10^u(-1, 0) } end)
m.test { mu = 0.5, phi = 0.75, theta = -0.5, sigma = 1, y = {1.5, 0.25, -1, 2}, mean = {0.5, 0.75, 0.5625, 0.15625} }
