-- A curve is drawn once for all groups.
local m = model "bad" { title = "x" }
local q = m.axis("q", "1/angstrom")
local x, y = m.columns("x:s", "y")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1 })
local a = m.parameter("a", { over = q, start = 1 })
m.observe(y, { mean = a * exp(-D * q^2 * x) })
m.curve("rate", D * q^2)
