-- A step that needs its own result.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {-1, 1} })
local a = m.parameter("a", { start = 0.5, bounds = {0, 1} })
local e = m.state("e", { before = 0 })
m.step(e, x - a * e)
m.observe(y, { mean = a * previous(e) })
