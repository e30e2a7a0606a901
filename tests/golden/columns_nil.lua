-- Three variables for two columns; the error of the mean makes the message appear.
local m = model "bad" { title = "x" }
local x, y, s = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x * y, sigma = s })
