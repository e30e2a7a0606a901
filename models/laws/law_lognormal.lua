local m = model "law_lognormal" { title = "The law lognormal, for tests" }
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {0, 6} })
local a = m.parameter("a", { start = 0.3, bounds = {-3, 3} })
local b = m.parameter("b", { start = -0.4, bounds = {-3, 3} })
local s = m.parameter("s", { start = 0.7, bounds = {1e-3, 10} })
m.observe(y, { mean = exp(a + b * x), noise = lognormal{ sd = s } })
