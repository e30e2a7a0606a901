local m = model "law_logit" { title = "The law binomial by its logit, for tests" }
local x, y, N = m.columns({ "x", range = {-1, 1} }, { "y", range = {0, 6} }, { "N", range = {7, 30} })
local a = m.parameter("a", { start = 0.3, bounds = {-3, 3} })
local b = m.parameter("b", { start = -0.4, bounds = {-3, 3} })
m.observe(y, { noise = binomial { trials = N, logit = a + b * x } })
