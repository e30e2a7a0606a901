-- Rates may see columns, but not what is measured.
local m = model "bad" { title = "x" }
local t, x, y = m.columns({ "t", range = {0, 10} }, { "x", range = {0, 1} }, "y")
local k = m.parameter("k", { start = 0.5, bounds = {0, 1} })
local u = m.state("u", { before = 1 })
m.ode(t, { [u] = -k * x * u + y })
m.observe(y, { mean = u })
