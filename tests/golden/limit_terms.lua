-- Few lines, few nodes, but sums of so many terms that what they share is written out again and again.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", range = { 0, 20 } }, "y")
local a = m.parameter("a", { start = 1, bounds = { 0.5, 2 } })
local z = a * t
for k = 1, 5000 do z = sin(z) * cos(z) + z end
m.observe(y, { mean = z })
