-- A factor of the derivative that no pair of times changes, and that is a parameter: it comes out of a table.
local m = model "table_factors" { title = "Two parts, of which one grows with the root of both times" }
local t = m.grid("t", "s")
local phi = m.axis("psi", "1", "an angle", { range = {0, 3} })
local p0 = m.parameter("p0", { start = 1.16, bounds = {0.3, 2} })
local l1 = m.parameter("l1", { start = 0.5, bounds = {-2, 2} })
local l2 = m.parameter("l2", { start = 0.5, bounds = {-2, 2}, over = phi })
local ts = floor_at(t, t.step/2)/second
local t1, t2 = pair(t)
m.observe("c2", {
  over = {phi, t1, t2},
  mean = l1*sqrt(at(p0*ts + 1, t1)*at(p0*ts + 1, t2)) + l2*at(p0/(1 + p0*ts), t1)*at(p0/(1 + p0*ts), t2),
  linear = {l1, l2},
})
