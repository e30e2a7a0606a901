local m = model "sums_pairs" { title = "Two-time, a distribution of rates" }
local t, phi = m.grid("t", "s"), m.axis("phi", "deg")
local q = m.setting("q", { unit = "1/angstrom", default = 0.01 })
local D0 = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {1, 1e6} })
local alpha = m.parameter("alpha", { start = 0, bounds = {-0.9, 2} })
local width = m.parameter("width", { start = 0.3, bounds = {0.01, 1} })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1} })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5} })
local D = D0 * (floor_at(t, t.step / 2) / second)^alpha
local t1, t2 = pair(t)
local J = integral(D, t1, t2)
local g1 = average({ "log_normal", median = 1, sd = width }, function(x) return exp(-q^2 * x * J * (1 + 0.1 * cos(phi))) end, { nodes = 5 })
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2 })
