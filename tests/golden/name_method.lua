-- A misspelt method.
local m = model "bad" { title = "x" }
local D = m.parmeter("D", { start = 1 })
