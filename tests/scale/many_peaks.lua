-- A table model of the size of a large spectrum: 40 peaks with five parameters each, one of them linear.
-- Nobody would write it by hand; it tells how the compiler grows.
local PEAKS, HARMONICS = 40, 9
local m = model "many_peaks" {
    title = "Forty asymmetric peaks with ripples",
    formula = "y = sum_k a_k shape((x - c_k)/w_k; e_k, s_k)",
    validity = "A test of the compiler's growth.",
}
local x, y = m.columns("x", "y")
local mean = 0
for k = 1, PEAKS do
    local a = m.parameter("a" .. k, { start = 1, bounds = {-10, 10} })
    local c = m.parameter("c" .. k, { start = k, bounds = {k - 0.4, k + 0.4} })
    local w = m.parameter("w" .. k, { start = 0.7, bounds = {0.3, 2} })
    local e = m.parameter("e" .. k, { start = 0.4, bounds = {0.1, 0.9} })
    local s = m.parameter("s" .. k, { start = 0.1, bounds = {-0.5, 0.5} })
    local u = (x - c) / w
    local z = u * (1 + s * tanh(u))
    local ripple = 0
    for h = 1, HARMONICS do
        ripple = ripple + sin(h * z) * exp(-h * e) / (1 + (h * s)^2)
    end
    mean = mean + a * (e * exp(-z^2 / 2) + (1 - e) / (1 + z^2) + 0.01 * ripple + 0.1 * erfc(u + s))
end
m.observe(y, { mean = mean })
m.random(function(u)
    local p = {}
    for k = 1, PEAKS do
        p["c" .. k], p["w" .. k], p["e" .. k], p["s" .. k] = k + u(-0.3, 0.3), u(0.4, 1.5), u(0.2, 0.8), u(-0.3, 0.3)
    end
    return p
end)
