local m = model "x" { title = "t" }
local t = m.grid("t", "s")
local D = m.parameter("D", { unit = "1/s", start = 2, bounds = {0, 10} })
local a = m.parameter("a", { start = 1, bounds={0,1} })
local t1, t2 = pair(t)
local g = a
for k = 1, 20000 do m.curve("c" .. k, t) end
m.observe("c2", { over = {t1, t2}, mean = g })
