-- Not an identifier.
local m = model "bad" { title = "x" }
local D = m.parameter("D 0", { start = 1 })
