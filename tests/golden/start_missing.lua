-- No start.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { bounds = {0, 1} })
