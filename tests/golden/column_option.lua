local m = model "column_option" { title = "A column with an option that there is not" }
local x, y = m.columns({ "x", units = "s" }, "y")
local a = m.parameter("a", { start = 1 })
m.observe(y, { mean = a * x })
