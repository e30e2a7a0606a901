-- What is lost is shown as it was written, by the names of its parts.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", unit = "s", range = {0.001, 10} }, "y")
local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {0.5, 2} })
local r = 2 * x / tau
m.observe(y, { mean = 6 * (r - sin(r)) / r^3 })
