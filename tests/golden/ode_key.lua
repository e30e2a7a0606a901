-- A word that m.ode does not know.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", range = {0, 10} }, "y")
local k = m.parameter("k", { start = 0.5, bounds = {0, 1} })
local u = m.state("u", { before = 1 })
m.ode(t, { [u] = -k * u, method = "bdf" })
m.observe(y, { mean = u })
