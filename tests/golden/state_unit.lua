-- A step in another unit.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", unit = "s", range = {-1, 1} }, { "y", range = {-1, 1} })
local a = m.parameter("a", { start = 0.5, bounds = {0, 1} })
local e = m.state("e", { unit = "ms", before = 0 })
m.step(e, a * x + previous(x, 0))
m.observe(y, { mean = a * e })
