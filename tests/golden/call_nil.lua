-- Arithmetic with nil.
local m = model "bad" { title = "x" }
local p = {}
local D = 2 * p.start
