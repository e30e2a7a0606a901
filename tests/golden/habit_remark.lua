-- A remark as Python writes it.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y") # the table
