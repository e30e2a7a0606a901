-- A keyword of C.
local m = model "bad" { title = "x" }
local D = m.parameter("double", { start = 1 })
