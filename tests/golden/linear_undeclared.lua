-- A parameter that enters linearly, left out of the list; another that is kept out on purpose.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y")
local A = m.parameter("A", { start = 1 })
local B = m.parameter("B", { start = 1 })
local C = m.parameter("C", { start = 1, linear = false })
local k = m.parameter("k", { start = 1, bounds = {0, 10} })
m.observe(y, { mean = A + B * exp(-k * x) + C * exp(-2 * k * x), linear = {A} })
