local m = model "garch" {
    title = "Returns whose variance follows from the last shock and the last variance, GARCH(1, 1)",
    formula = "y[n] = mu + e[n],   e[n] is normal (0, s[n]),   s[n]^2 = a0 + a1 e[n-1]^2 + b1 s[n-1]^2",
    reference = "T. Bollerslev, J. Econometrics 31 (1986) 307, eq. (1)-(4)",
    validity = "Equal steps of time; a1 + b1 < 1, else the variance grows.",
}

local y = m.columns({ "y", unit = "percent", range = {-10, 10}, doc = "return" })
local first = m.setting("s1", { unit = "percent", default = 1, doc = "standard deviation of the first row" })
local mu = m.parameter("mu", { unit = "percent", start = 0, bounds = {-10, 10}, prior = normal(0, 5) })
local a0 = m.parameter("a0", { unit = "percent^2", start = 0.1, bounds = {1e-6, 100}, prior = {"half_normal", 5},
                               doc = "variance that is always there" })
local a1 = m.parameter("a1", { start = 0.1, bounds = {0, 1}, doc = "part of the last shock, squared" })
local b1 = m.parameter("b1", { start = 0.8, bounds = {0, 1}, doc = "part of the last variance" })

local ahead = m.state("ahead", { unit = "percent^2", before = first^2, doc = "variance of the next row" })
local s = sqrt(previous(ahead))
m.step(ahead, a0 + a1 * (y - mu)^2 + b1 * previous(ahead))
m.observe(y, { mean = mu, noise = gaussian { sd = s } })

m.random(function(u)
    return { mu = u(-1, 1), a0 = 10^u(-2, 0), a1 = u(0.02, 0.4), b1 = u(0.1, 0.95) }
end)
m.test { mu = 0.5, a0 = 0.25, a1 = 0.5, b1 = 0.25, y = {1.5, 0.25, -1, 2}, mean = 0.5 }
