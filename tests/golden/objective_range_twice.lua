-- A range in two words.
local m = objective "bad" { title = "x" }
local width = m.hyper("width", { default = 1, positive = true, bounds = { 0, 2 } })
