-- The mean contains a state of its own row, which is made from what is measured.
local m = model "bad" { title = "x" }
local y = m.columns({ "y", range = {-1, 1} })
local a = m.parameter("a", { start = 0.5, bounds = {0, 1} })
local e = m.state("e", { before = 0 })
m.step(e, y - a * previous(e))
m.observe(y, { mean = a * e })
