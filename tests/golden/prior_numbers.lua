-- A prior with too few numbers.
local m = model "bad" { title = "x" }
local D = m.parameter("D", { start = 1, prior = {"normal", 1} })
