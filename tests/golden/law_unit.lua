-- The width of the errors has another unit than what is measured.
local m = model "bad" { title = "x" }
local x, y = m.columns("x", "y:count")
local a = m.parameter("a", { unit = "count", start = 1 })
local s = m.parameter("s", { start = 1, bounds = {0, 10} })
m.observe(y, { mean = a * x, noise = gaussian { sd = s } })
