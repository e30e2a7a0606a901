local m = model "sas_pearl_necklace" {
    title = "Necklaces: pearls on a string of straight pieces",
    formula = [[
I(q) = background + scale (A_pp + A_ss + A_ps)/(N v_p + M v_s),   M = N - 1 pieces of string
A_pp = (w_p f)^2 (N + 2 sum (N - k) c^k),   A_ss = w_s^2 (M (2 L - sinc(q l/2)^2) + 2 B^2 sum (M - k) c^(k - 1))
A_ps = 4 w_p f w_s B sum (N - k) c^(k - 1);   sums over k = 1, 2, ...
f = 3 j1(q R)/(q R),  c = sinc(q (l + 2 R)),  L = Si(q l)/(q l),  B = (Si(q (l + R)) - Si(q R))/(q l)
w_p, w_s: volumes v_p of a pearl, v_s of a piece of string, times their contrasts]],
    reference = [[
R. Schweins and K. Huber, Macromol. Symp. 211 (2004) 25]],
    validity = "Joints move freely; the thickness of the string shows in its volume only.",
}

local q, I, s = m.columns(
    { "q", unit = "1/angstrom", range = {0.001, 0.1}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local sld = m.setting("sld", { unit = "1/angstrom^2", default = 1e-6,
    doc = "scattering length density of the pearls" })
local sld_string = m.setting("sld_string", { unit = "1/angstrom^2", default = 1e-6, doc = "of the string" })
local sld_solvent = m.setting("sld_solvent", { unit = "1/angstrom^2", default = 6.3e-6, doc = "of the solvent" })
local R = m.parameter("R", { unit = "angstrom", start = 80, bounds = {20, 150}, doc = "radius of a pearl" })
local l = m.parameter("l", { unit = "angstrom", start = 350, bounds = {50, 500},
    doc = "from pearl to pearl along the string" })
local thick = m.parameter("thick", { unit = "angstrom", start = 2.5, bounds = {0.5, 20},
    doc = "diameter of the string" })
local scale = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.001 })

local N = 3                                            -- pearls; another number is another model
local M = N - 1
local function Si_over(x) return integrate(0, 1, function(u) return sinc(x * u) end, { nodes = 40 }) end   -- Si(x)/x
local f = 3 * spherical_j(1, q * R) / (q * R)
local c, a = sinc(q * (l + 2 * R)), l + R
local L, B = Si_over(q * l), (a * Si_over(q * a) - R * Si_over(q * R)) / l
local v_p, v_s = 4 * pi / 3 * R^3, pi / 4 * thick^2 * l
local w_p, w_s = v_p * (sld - sld_solvent), v_s * (sld_string - sld_solvent)
local pearls, strings, both = N, 0, 0
for k = 1, M do
    pearls, both = pearls + 2 * (N - k) * c^k, both + (N - k) * c^(k - 1)
    if k < M then strings = strings + (M - k) * c^(k - 1) end
end
local sum = (w_p * f)^2 * pearls + w_s^2 * (M * (2 * L - sinc(q * l / 2)^2) + 2 * B^2 * strings)
          + 4 * w_p * f * w_s * B * both
m.observe(I, { mean = background + scale * convert(sum / (N * v_p + M * v_s), "1/cm"), sigma = s })

-- the value that sasmodels 1.1 tests itself by (pearl_necklace); its library gives
-- 17380.246935748728 (its Si(x) is right to 0.1 %, which shows at larger q)
m.test { q = 0.001, R = 80, l = 350, thick = 2.5, scale = 1, background = 0.001, I = 17380.245, tolerance = 2e-7 }
