-- Rows of a table: a decay over a constant background.
local m = model "decay_table" { title = "Exponential decay over a background",
    formula = "y = A exp(-rate x) + c" }
local x, y, s = m.columns("x:s", "y", "s")
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {0, 100}, doc = "decay rate" })
local A = m.parameter("A", { start = 1, bounds = {0, 10}, doc = "amplitude" })
local c = m.parameter("c", { start = 0, bounds = {-1, 1}, doc = "background" })
m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} })
