local m = model "laminar" {
    title = "Homodyne two-time correlation of a colloid in laminar shear flow",
    formula = [[
c2(phi, t1, t2) = offset + contrast g1^2
g1 = exp(-q^2/2 I_D) sinc(x)^2,   x = q gap/(2 pi) cos(phi0 - phi) I_shear,   sinc x = sin x / x
I_D = integral of D(t), I_shear = integral of the shear rate, both from t1 to t2
D(t) = D0 t^alpha + D_offset,   shear rate(t) = gamma_dot_t0 t^beta + gamma_dot_t_offset   (t in s)
Integrals are sums of trapezoids from frame to frame, with dt/2 in the place of t = 0
]],
    reference = "H. He et al., PNAS 121 (2024) e2401162121; sinc as computed by homodyne and xpcsjax",
    validity = [[
The shear rate found here is pi/sqrt(2) = 2.22 times that of the model laminar_theory, on the same data
and as long as the argument of sinc is small.  This is the formula that the Python packages compute:
sinc^4 of an argument that is pi times smaller than in the sinc^2 of their theory (laminar_theory).
A fitted D0 at alpha = 0 is twice the diffusion coefficient of Stokes and Einstein.  Negative rates
cannot be represented: rates are floored.]],
    alias = {"laminar_flow"},
    package = "homodyne", mode = "laminar_flow",
}

local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth of the detector sector")
local q   = m.setting("q", "1/angstrom", "wavevector")
local gap = m.setting("gap", "angstrom", "distance of stator and rotor")

local D0 = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {100, 1e5},
    prior = {"truncated_normal", 1000, 1000}, doc = "transport coefficient at t = 1 s" })
local alpha = m.parameter("alpha", { start = 0.5, bounds = {-2, 2},
    prior = {"truncated_normal", 0.5, 0.5}, doc = "exponent of the transport coefficient" })
local D_offset = m.parameter("D_offset", { unit = "angstrom^2/s", start = 10, bounds = {-1e5, 1e5},
    prior = {"truncated_normal", 10, 200}, doc = "constant part of the transport coefficient" })
local gamma_dot_t0 = m.parameter("gamma_dot_t0", { unit = "1/s", start = 0.01, bounds = {1e-6, 0.5},
    prior = {"truncated_normal", 0.01, 0.1}, alias = {"gamma_dot_0", "gamma_dot_t_0", "gamma0"},
    doc = "shear rate at t = 1 s" })
local beta = m.parameter("beta", { start = 0.5, bounds = {-2, 2},
    prior = {"truncated_normal", 0, 0.5}, doc = "exponent of the shear rate" })
local gamma_dot_t_offset = m.parameter("gamma_dot_t_offset", { unit = "1/s", start = 0,
    bounds = {-0.1, 0.1}, prior = {"truncated_normal", 0, 0.02}, alias = {"gamma_dot_offset", "gamma_offset"},
    doc = "constant part of the shear rate" })
local phi0 = m.parameter("phi0", { unit = "deg", start = 0, bounds = {-10, 10},
    prior = {"truncated_normal", 0, 5}, alias = {"phi_0"}, doc = "direction of the flow" })
local contrast = m.parameter("contrast", { over = phi, start = 0.5, bounds = {0, 1},
    prior = {"truncated_normal", 0.5, 0.25}, doc = "speckle contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    prior = {"truncated_normal", 1, 0.25}, doc = "baseline" })

-- Rates as functions of the frame time; ts is that time as a number, kept away from 0, where t^alpha
-- may diverge.
local function rates(ts)
    local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s")
    local shear = floor_at(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1e-10 / second)
    return D, shear
end

local t1, t2 = pair(t)
local s = q * gap / (2 * pi) * cos(phi0 - phi)

local ts       = floor_at(t, t.step / 2) / second
local D, shear = rates(ts)
local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shear, t1, t2))^2

m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, linear = {contrast, offset} })
m.curve("D", D, "transport coefficient, of plain diffusion 2 D")
m.curve("shear_rate", shear, "shear rate")

-- With the smoothing, floors and clips of the Python packages (homodyne's treatment of the diagonal).
-- They sum rates without the frame period and take sqrt(sum^2 + 1e-12) for the absolute value.
local function magnitude(integrated, unit_of_rate)
    local eps = 1e-6 * t.step * unit_of_rate
    return sqrt(integrated^2 + eps^2)
end

local ts_parity              = floor_at(t, floor_at(t.step / 2, 1e-8 * second)) / second
local D_parity, shear_parity = rates(ts_parity)
local M_D        = magnitude(integral(D_parity, t1, t2), unit "angstrom^2/s")
local M_shear    = magnitude(integral(shear_parity, t1, t2), unit "1/s")
local g1_parity  = exp(floor_at(-q^2 / 2 * M_D, -700)) * sinc(s * M_shear)^2
local g1_floored = floor_at(g1_parity, 1e-10)
m.variant("parity", { mean = offset + contrast * g1_floored^2 })

m.random(function(u)
    return { D0 = 10^u(2, 5), alpha = u(-1.5, 1), D_offset = u(-50, 500),
             gamma_dot_t0 = 10^u(-4, -0.5), beta = u(-1.5, 1), gamma_dot_t_offset = u(-1e-3, 1e-2),
             phi0 = u(-10, 10) }
end)

-- Test points.  "parity": values of homodyne 2.23.3; "fast": the formula above in 40 digits.
local function point(base, more)
    for key, value in pairs(base) do more[key] = value end
    return more
end
local typical = { D0 = 1324.1, alpha = -0.014, D_offset = 0.674, gamma_dot_t0 = 0.003, beta = -0.909,
                  gamma_dot_t_offset = 0, phi0 = -4.1, q = 0.0054, gap = 2e6, dt = 0.1 }
local aging   = { D0 = 8000, alpha = -1.2, D_offset = 50, gamma_dot_t0 = 0.01, beta = -1.5,
                  gamma_dot_t_offset = 1e-4, phi0 = 3, q = 0.0054, gap = 2e6, dt = 0.1 }
m.test(point(typical, { variant = "parity", phi = 0, contrast = 0.3, offset = 1, t1 = 0, t2 = 0,
    c2 = 1.2999999941202802 }))
m.test(point(typical, { variant = "parity", phi = 0, contrast = 0.3, offset = 1, t1 = 0.2, t2 = 0.9,
    c2 = 1.0000472755348742 }))
m.test(point(typical, { variant = "parity", phi = 90, contrast = 0.25, offset = 1.002, t1 = 0, t2 = 1.5,
    c2 = 1.0638069020468963 }))
m.test(point(typical, { variant = "parity", phi = 180, contrast = 0.29, offset = 0.997, t1 = 1.5,
    t2 = 0.3, c2 = 0.9970628300325293 }))
m.test(point(aging, { variant = "parity", phi = 0, contrast = 0.3, offset = 1, t1 = 0.2, t2 = 0.9,
    c2 = 1.0000000312431276 }))
m.test(point(aging, { variant = "parity", phi = 90, contrast = 0.25, offset = 1.002, t1 = 0, t2 = 1.5,
    c2 = 1.0020005260881044 }))
m.test(point(aging, { variant = "parity", phi = 180, contrast = 0.29, offset = 0.997, t1 = 1.5,
    t2 = 0.3, c2 = 0.997000023107176 }))
m.test(point(typical, { phi = 0, contrast = 0.3, offset = 1, t1 = 0.2, t2 = 0.9,
    c2 = 1.00004727553465584 }))
m.test(point(typical, { phi = 90, contrast = 0.25, offset = 1.002, t1 = 0, t2 = 1.5,
    c2 = 1.06380690205406836 }))
m.test(point(typical, { phi = 45, contrast = 0.31, offset = 0.99, t1 = 0, t2 = 0.1,
    c2 = 0.990336847929792069 }))
m.test(point(aging, { phi = 0, contrast = 0.3, offset = 1, t1 = 0.2, t2 = 0.9,
    c2 = 1.00000003124312756 }))
m.test(point(aging, { phi = 90, contrast = 0.25, offset = 1.002, t1 = 0, t2 = 1.5,
    c2 = 1.00200052608810439 }))
