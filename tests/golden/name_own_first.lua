-- Of two names as near the author's own is meant, not at().
local m = model "bad" { title = "x" }
local x, y = m.columns("x:s", "y")
local rate = m.parameter("rate", { unit = "1/s", start = 1 })
m.observe(y, { mean = exp(-rat * x) })
