local m = model "accuracy_range" { title = "A range that is none" }
local x, y = m.columns({ "x", range = {10, 10} }, "y")
