local m = model "law_binomial" { title = "The law binomial, for tests" }
local x, y, N = m.columns({ "x", range = {-1, 1} }, { "y", range = {0, 6} }, { "N", range = {7, 30} })
local a = m.parameter("a", { start = 0.3, bounds = {-3, 3} })
local b = m.parameter("b", { start = -0.4, bounds = {-3, 3} })
m.observe(y, { mean = N * logistic(a + b * x), noise = binomial{ trials = N } })
