-- An event is in every row, at its time, or at a time that is known before.
local m = model "bad" { title = "x" }
local t, x, y = m.columns({ "t", range = {0, 10} }, { "x", range = {0, 1} }, "y")
local k = m.parameter("k", { start = 0.5, bounds = {0, 1} })
local u = m.state("u", { before = 1 })
m.ode(t, { [u] = -k * u })
m.event(t + 1, { [u] = x })
m.observe(y, { mean = u })
