-- A model of pairs of frames of the same size: diffusion and shear rates as sums of 100 modes each.
local MODES = 100
local m = model "many_modes" {
    title = "Rates with a hundred modes each",
    formula = "c2 = offset + contrast exp(-q^2 int D) sinc(q gap/(2 pi) cos(phi) int shear)^2",
    validity = "A test of the compiler's growth.",
}
local t, phi = m.grid("t", "s"), m.axis("phi", "deg")
local q, gap = m.setting("q", "1/angstrom"), m.setting("gap", "angstrom")
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1} })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5} })
local ts = t / second
local D, shear = 0, 0
for k = 1, MODES do
    local d = m.parameter("d" .. k, { unit = "angstrom^2/s", start = 20, bounds = {0, 1e3} })
    local g = m.parameter("g" .. k, { unit = "1/s", start = 1e-5, bounds = {-0.01, 0.01} })
    local wave, fade = cos(0.3 * k * ts), exp(-0.01 * k * ts)
    D = D + d * (1 + 0.5 * wave * fade)^2 / (1 + (0.1 * k * ts)^2)
    shear = shear + g * (1 + fade * sin(0.2 * k * ts) + tanh(ts - 0.1 * k)) / (1 + exp(-k * ts))
end
local t1, t2 = pair(t)
local g1 = exp(-q^2 / 2 * integral(D, t1, t2))
           * sinc(q * gap / (2 * pi) * cos(phi) * integral(shear, t1, t2))^2
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2 })
m.random(function(u)
    local p = {}
    for k = 1, MODES do
        p["d" .. k], p["g" .. k] = u(1, 50), u(-1e-3, 1e-3)
    end
    return p
end)
