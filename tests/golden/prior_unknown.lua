-- A misspelt prior.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { start = 1, prior = {"nromal", 1, 1} })
