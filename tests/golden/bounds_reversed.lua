-- Bounds in the wrong order.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { start = 0.5, bounds = {1, 0} })
