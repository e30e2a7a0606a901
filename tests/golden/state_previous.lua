-- The first row has none before it.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {-1, 1} })
local a = m.parameter("a", { start = 0.5, bounds = {0, 1} })
m.observe(y, { mean = a * previous(x) })
