-- A power of a quotient: the divisor has no bounds.
local m = model "bad" { title = "x" }
local x, y = m.columns({"x", unit = "s" }, {"y"})
local a = m.parameter("a", { start = 1, bounds = {0, 10}, doc="a" })
local tau = m.parameter("tau", { unit = "s", start = 2, doc="b" })
local b = m.parameter("b", { start = 0.5, bounds = {0.1, 3}, doc="c" })
m.observe(y, { mean = a * exp(-(x/tau)^b), linear={a} })
