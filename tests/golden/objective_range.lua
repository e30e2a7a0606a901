-- A number whose default is not what it may be.
local m = objective "bad" { title = "x" }
local bin = m.axis("bin")
local x = m.free("x", bin)
local width = m.hyper("width", { default = 0, positive = true, unit = "s" })
m.term("size", { kind = "data", value = m.sum(x ^ 2) / width })
