-- The order of a Mittag-Leffler function is at most 1.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {0, 10} }, { "y" })
local a = m.parameter("a", { start = 0.5, bounds = {0.2, 1} })
m.observe(y, { mean = mittag_leffler(1.5, -x) })
