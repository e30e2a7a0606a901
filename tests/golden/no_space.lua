-- Neither grid nor columns.
local m = model "bad" { title = "x" }
m.observe("y", { mean = 1 })
