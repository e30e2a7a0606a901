-- Start outside the bounds.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { start = 5, bounds = {0, 1} })
