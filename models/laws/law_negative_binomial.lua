local m = model "law_negative_binomial" { title = "The law negative_binomial, for tests" }
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {0, 6} })
local a = m.parameter("a", { start = 0.3, bounds = {-3, 3} })
local b = m.parameter("b", { start = -0.4, bounds = {-3, 3} })
local s = m.parameter("s", { start = 2.5, bounds = {0.05, 1e4} })
m.observe(y, { mean = exp(a + b * x), noise = negative_binomial{ modes = s } })
