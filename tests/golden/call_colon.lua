-- A colon instead of a dot.
local m = model "bad" { title = "x" }
local D = m:parameter("D", { start = 1 })
