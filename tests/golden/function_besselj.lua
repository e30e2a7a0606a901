-- A function under the name that it has elsewhere.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {1, 5} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0.5, 2} })
m.observe(y, { mean = a * besselj(0, x) })
