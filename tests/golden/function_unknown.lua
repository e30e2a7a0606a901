-- A function that there is not.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", unit = "ms", range = {0, 50} }, "y")
local tau = m.parameter("tau", { unit = "ms", start = 1, bounds = {0.1, 10} })
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * besselj0(t / tau) })
