local m = model "law_own" {
    title = "A law of one's own, for tests",
    formula = "p(y) = (1 - f) normal(mean, s) + f normal(mean, 10 s)",
    validity = "A mixture: a part f of the values has errors ten times as large.",
}
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {0, 6} })
local a = m.parameter("a", { start = 0.3, bounds = {-3, 3} })
local b = m.parameter("b", { start = -0.4, bounds = {-3, 3} })
local s = m.parameter("s", { start = 0.7, bounds = {1e-3, 100} })
local f = m.parameter("f", { start = 0.1, bounds = {1e-3, 0.5} })
local mean = a + b * x
local z = (y - mean) / s
local good = log1p(-f) - 0.5 * z^2                -- both without the common -log(s sqrt(2 pi))
local bad = log(f / 10) - 0.005 * z^2
m.observe(y, { mean = mean, log_density = good + softplus(bad - good) - log(s) - 0.5 * log(2 * pi) })
