-- A misspelt option.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { strat = 1 })
