local m = model "late" { title = "the first frame at 2 periods" }
local t = m.grid("t", "s", { first = 2 })
