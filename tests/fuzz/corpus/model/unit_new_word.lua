-- A unit that nobody declared.
local m = model "bad" { title = "x", units = {"cell"} }
local x, y = m.columns("x:cell", "y")
local a = m.parameter("a", { unit = "1/cell", start = 1 })
local b = m.parameter("b", { unit = "photons/voxel", start = 1 })
m.observe(y, { mean = a * x })
