-- An error of the author.
local m = model "bad" { title = "x" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "angstrom^2/s", start = 1, bounds = {0, 10} })
local t1, t2 = pair(t)
error("the angle is missing")
