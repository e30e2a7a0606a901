-- A spectrum of many lines, each with an amplitude that the mean is linear in: sums over products of basis functions
-- grow with the square of their number, the text must not.
local LINES = 66
local m = model "lines" { title = "Lorentzian lines", formula = "y = sum_k a_k w_k^2/((x - c_k)^2 + w_k^2)" }
local x, y = m.columns({ "x", range = { 0, 30 } }, "y")
local mean = 0
for k = 1, LINES do
    local a = m.parameter("a" .. k, { start = 1, bounds = { -10, 10 }, linear = true })
    local c = m.parameter("c" .. k, { start = k, bounds = { k - 0.4, k + 0.4 } })
    local w = m.parameter("w" .. k, { start = 0.7, bounds = { 0.3, 2 } })
    mean = mean + a * w^2 / ((x - c)^2 + w^2)
end
m.observe(y, { mean = mean })
m.random(function(u)
    local p = {}
    for k = 1, LINES do
        p["c" .. k], p["w" .. k] = k + u(-0.3, 0.3), u(0.4, 1.5)
    end
    return p
end)
