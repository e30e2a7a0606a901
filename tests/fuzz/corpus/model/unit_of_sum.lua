-- Derived units that cancel: siemens, farad, second.
local m = model "bad" { title = "x" }
local f, y = m.columns("f:Hz", "y")
local sigma = m.parameter("sigma", { unit = "S/m", start = 1e-9 })
local eps = 8.8541878128e-12 * unit "F/m"
m.observe(y, { mean = 1 + sigma / (eps * f) })
