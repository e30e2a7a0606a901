local m = model "static_isotropic" {
    title = "Homodyne two-time correlation of a quiescent colloid, all azimuths alike",
    formula = [[
c2(phi, t1, t2) = offset + contrast exp(-q^2 I_D),   I_D = integral of D(t) from t1 to t2
D(t) = D0 t^alpha + D_offset   (t in s)
The integral is a sum of trapezoids from frame to frame, with dt/2 in the place of t = 0
]],
    reference = "H. He et al., PNAS 121 (2024) e2401162121; as computed by homodyne and xpcsjax",
    validity = [[
No flow.  All angles share D0, alpha and D_offset; contrast and offset belong to each angle, as in
static_anisotropic, which is the same formula under the other name that configurations use.
A fitted D0 at alpha = 0 is twice the diffusion coefficient of Stokes and Einstein.  Negative rates
cannot be represented: rates are floored.]],
    package = "homodyne", mode = "static",
}

local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth of the detector sector")
local q   = m.setting("q", "1/angstrom", "wavevector")

local D0 = m.parameter("D0", { unit = "angstrom^2/s", start = 1000, bounds = {100, 1e5},
    prior = {"truncated_normal", 1000, 1000}, doc = "transport coefficient at t = 1 s; of plain diffusion, 2 D" })
local alpha = m.parameter("alpha", { start = 0.5, bounds = {-2, 2},
    prior = {"truncated_normal", 0.5, 0.5}, doc = "exponent of the transport coefficient" })
local D_offset = m.parameter("D_offset", { unit = "angstrom^2/s", start = 10, bounds = {-1e5, 1e5},
    prior = {"truncated_normal", 10, 200}, doc = "constant part of the transport coefficient" })
local contrast = m.parameter("contrast", { over = phi, start = 0.5, bounds = {0, 1},
    prior = {"truncated_normal", 0.5, 0.25}, doc = "speckle contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    prior = {"truncated_normal", 1, 0.25}, doc = "baseline" })

-- The frame time as a number, kept away from 0 where t^alpha may diverge.
local ts = floor_at(t, t.step / 2) / second
local D  = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s")

local t1, t2 = pair(t)
local g1 = exp(-q^2 / 2 * integral(D, t1, t2))

m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, linear = {contrast, offset} })
m.curve("D", D, "transport coefficient, of plain diffusion 2 D")

-- With the smoothing, floors and clips of the Python packages (homodyne's treatment of the diagonal).
-- They sum rates without the frame period and take sqrt(sum^2 + 1e-12) for the absolute value.
local ts_parity  = floor_at(t, floor_at(t.step / 2, 1e-8 * second)) / second
local D_parity   = floor_at(D0 * ts_parity^alpha + D_offset, 1e-10 * unit "angstrom^2/s")
local M_D        = sqrt(integral(D_parity, t1, t2)^2 + (1e-6 * t.step * unit "angstrom^2/s")^2)
local g1_parity  = exp(floor_at(-q^2 / 2 * M_D, -700))
local g1_floored = floor_at(g1_parity, 1e-10)
m.variant("parity", { mean = offset + contrast * g1_floored^2 })

m.random(function(u)
    return { D0 = 10^u(2, 5), alpha = u(-1.5, 1), D_offset = u(-50, 500) }
end)

-- Test points.  "parity": values of homodyne 2.23.3; "fast": the formula above in 40 digits.
local function aging(more)
    more.D0, more.alpha, more.D_offset, more.q, more.dt = 8000, -1.2, 50, 0.0054, 0.1
    more.phi, more.contrast, more.offset = 0, 0.3, 1
    return more
end
m.test(aging { variant = "parity", t1 = 0,   t2 = 0.1, c2 = 1.1630527087999156 })
m.test(aging { variant = "parity", t1 = 0.2, t2 = 0.9, c2 = 1.195809650172145 })
m.test(aging { t1 = 0,   t2 = 0.1, c2 = 1.16305270879991572 })
m.test(aging { t1 = 0.2, t2 = 0.9, c2 = 1.1958096501721449 })
