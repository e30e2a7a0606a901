-- A log density that does not contain what is measured.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x, log_density = -a * x })
