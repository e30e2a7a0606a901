local m = model "accuracy_lost" { title = "A difference that no rule knows", accuracy = 100 }
local x, y = m.columns({ "x", range = {1e-6, 10} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0.5, 2} })
local b = m.parameter("b", { start = 1, bounds = {0.1, 3} })
local u = a * x
local near = (u - sin(u)) / u^3
m.observe(y, { mean = b * near })
