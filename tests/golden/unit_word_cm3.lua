-- A power without its sign.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {1, 5} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0.5, 2} })
local c = m.setting("c", { unit = "g/cm3", default = 1 })
m.observe(y, { mean = a * x })
