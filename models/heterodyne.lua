local m = model "heterodyne" {
    title = "Heterodyne two-time correlation of a moving sample and a reference, with a changing fraction",
    formula = [[
c2(phi, t1, t2) = offset + contrast num / (n(t1) n(t2)),   n = f^2 + r^2,   r = 1 - f
num = (r(t1) r(t2) R)^2 + (f(t1) f(t2) S)^2 + 2 r(t1) r(t2) f(t1) f(t2) R S cos(psi)
R = exp(-q^2/2 I_ref),   S = exp(-q^2/2 I_sample),   psi = q cos(phi + phi0_het) I_v
I_ref, I_sample, I_v: integrals of J_ref(t), J_sample(t) and v(t) from t1 to t2 (t in s)
J_ref(t) = D0_ref t^alpha_ref + D_offset_ref,   J_sample(t) likewise,   both at least 0
v(t) = v0 t^v_beta + v_offset
f(t) = f0 exp(f1 (t - f2)) + f3, kept within 0 and 1 by two softplus functions of width 1/50
]],
    reference = "H. He et al., PNAS 121 (2024) e2401162121, and PNAS 122 (2025) e2514216122, SI eq. S-95",
    validity = [[
f0 and f2 are one parameter: f0 exp(-f1 f2) is all that data determine.  Fix f2, at 0 as a rule.
At v_beta = 0 only v0 + v_offset is determined, at alpha = 0 only D0 + D_offset, at f1 = 0 only f0 + f3.
Two exchanges leave the data as they are: f with 1 - f together with ref and sample, and the sign of v.
From one angle only v(t) cos(phi + phi0_het) is determined, neither v0 nor phi0_het.
The fraction stays off its limits: f0 exp(..) + f3 = 0 is a fraction of 0.014, 1 one of 0.986.
A power of t counts as 0 for t <= 0.  The sum in cos(phi + phi0_het) is that of the Python packages.]],
    alias = {"two_component"},
    package = "heterodyne",
}

local t   = m.grid("t", "s", { first = 1 })
local phi = m.axis("phi", "deg", "azimuth of the detector sector")
local q   = m.setting("q", "1/angstrom", "wavevector")

-- Bounds: of heterodyne 2.0.1 and xpcsjax 0.1.8 the wider ones, apart from the zeros that xpcsjax allows for
-- D0 and v0: those are searched on a logarithmic scale.
local function transport(of, word)
    local D0 = m.parameter("D0_" .. of, { unit = "angstrom^2/s", start = 1e4, bounds = {1, 1e6},
        prior = {"truncated_normal", 1e4, 1e4}, doc = "transport coefficient of the " .. word .. " at t = 1 s" })
    local alpha = m.parameter("alpha_" .. of, { start = 0, bounds = {-5, 5},
        prior = {"truncated_normal", 0, 1}, doc = "exponent of the transport coefficient of the " .. word })
    local D_offset = m.parameter("D_offset_" .. of, { unit = "angstrom^2/s", start = 0, bounds = {-1e5, 1e5},
        prior = {"truncated_normal", 0, 1000}, doc = "constant part of the transport coefficient of the " .. word })
    return D0, alpha, D_offset
end

local D0_ref, alpha_ref, D_offset_ref          = transport("ref", "reference")
local D0_sample, alpha_sample, D_offset_sample = transport("sample", "sample")
local v0 = m.parameter("v0", { unit = "angstrom/s", start = 1e3, bounds = {1e-3, 1e6},
    prior = {"truncated_normal", 1e3, 1e3}, doc = "velocity at t = 1 s" })
local beta = m.parameter("v_beta", { start = 0, bounds = {-2, 2}, prior = {"truncated_normal", 0, 1},
    alias = {"beta"}, doc = "exponent of the velocity" })
local v_offset = m.parameter("v_offset", { unit = "angstrom/s", start = 0, bounds = {-100, 100},
    prior = {"truncated_normal", 0, 25}, doc = "constant part of the velocity" })
local f0 = m.parameter("f0", { start = 0.5, bounds = {0, 1}, prior = {"truncated_normal", 0.5, 0.25},
    doc = "size of the changing part of the sample's fraction, at t = f2" })
local f1 = m.parameter("f1", { unit = "1/s", start = 0, bounds = {-10, 10},
    prior = {"truncated_normal", 0, 5}, doc = "rate of change of the fraction" })
local f2 = m.parameter("f2", { unit = "s", start = 0, bounds = {-1e4, 1e4},
    prior = {"truncated_normal", 0, 1000}, doc = "time at which f0 holds; the same as a factor of f0" })
local f3 = m.parameter("f3", { start = 0, bounds = {-1, 1}, prior = {"truncated_normal", 0, 0.5},
    doc = "constant part of the fraction" })
local phi0 = m.parameter("phi0_het", { unit = "deg", start = 0, bounds = {-10, 10},
    prior = {"truncated_normal", 0, 5}, alias = {"phi0"}, doc = "direction of the flow" })
local contrast = m.parameter("contrast", { over = phi, start = 0.5, bounds = {0, 1},
    prior = {"truncated_normal", 0.5, 0.25}, doc = "speckle contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    prior = {"truncated_normal", 1, 0.25}, doc = "baseline" })

-- Functions of the frame time.
local ts = floor_at(t, 1e-10 * second) / second
local function power(e) return where(le(t, 0 * second), 0, ts^e) end

local unfloored_ref    = D0_ref * power(alpha_ref) + D_offset_ref
local unfloored_sample = D0_sample * power(alpha_sample) + D_offset_sample
local J_ref    = floor_at(unfloored_ref, 0 * unit "angstrom^2/s")
local J_sample = floor_at(unfloored_sample, 0 * unit "angstrom^2/s")
local v        = v0 * power(beta) + v_offset

local function growing(limit) return f0 * exp(clamp(f1 * (t - f2), -limit, limit)) + f3 end

-- Fraction and 1 - fraction.  The second is computed first: it keeps its digits where it is small.
local function smooth(y)
    local k  = 50
    local lo = softplus(k * y) / k
    local r  = softplus(k * (1 - lo)) / k
    return 1 - r, r
end
local function hard(y)
    local f = clamp(y, 0, 1)
    return f, 1 - f
end

local t1, t2 = pair(t)
local psi = q * cos(phi + phi0) * integral(v, t1, t2)

-- f r / n, f^2 / n and r^2 / n depend on one frame each.
local function mixed(f, r, R, S)
    local n = f^2 + r^2
    local function both(x) return at(x, t1) * at(x, t2) end
    local g = both(r^2 / n) * R^2 + both(f^2 / n) * S^2 + 2 * both(r * f / n) * (R * S) * cos(psi)
    return offset + contrast * g
end

local fraction, rest = smooth(growing(700))
local R, S = exp(-q^2 / 2 * integral(J_ref, t1, t2)), exp(-q^2 / 2 * integral(J_sample, t1, t2))
m.observe("c2", { over = {phi, t1, t2}, mean = mixed(fraction, rest, R, S), linear = {contrast, offset} })
m.curve("J_ref", J_ref, "transport coefficient of the reference")
m.curve("J_sample", J_sample, "transport coefficient of the sample")
m.curve("v", v, "velocity")
m.curve("fraction", fraction, "fraction of the sample")

-- The Python packages: sqrt(I^2 + 1e-12) for the integrals, a cut of their exponents at -700, and
-- different cuts of the fraction.  "parity" is heterodyne 2.0.1, "parity_hard" heterodyne before it.
-- A rate of exactly 0 has half the slope there: (x + |x|)/2 has it too.
local function amplitude(J)
    local eps = 1e-6 * angstrom^2
    local I = integral((J + abs(J)) / 2, t1, t2)
    return exp(floor_at(-q^2 / 2 * sqrt(I^2 + eps^2), -700))
end
local R_parity, S_parity = amplitude(unfloored_ref), amplitude(unfloored_sample)
local function packages(f, r) return mixed(f, r, R_parity, S_parity) end
m.variant("parity",          { mean = packages(smooth(growing(500))) })
m.variant("parity_xpcsjax",  { mean = packages(smooth(growing(700))) })
m.variant("parity_hard",     { mean = packages(hard(growing(100))) })

m.random(function(u)
    local start, finish = u(0.02, 0.98), u(0.02, 0.98) -- of the fraction, within 100 s or so
    local f0 = u(0, 1)
    return { D0_ref = 10^u(2, 4.7), alpha_ref = u(-1, 1), D_offset_ref = u(-50, 500),
             D0_sample = 10^u(2, 4.7), alpha_sample = u(-1, 1), D_offset_sample = u(-50, 500),
             v0 = 10^u(0, 3.5), v_beta = u(-1, 1), v_offset = u(-50, 50),
             f0 = f0, f1 = u(-0.05, 0.05), f2 = 0, f3 = start - f0, phi0_het = u(-10, 10) }
end)

-- Test points.  "parity": values of heterodyne 2.0.1; "parity_hard": of the version before it;
-- "fast": the formula above in 40 digits.
local function point(base, more)
    for key, value in pairs(base) do more[key] = value end
    return more
end
local typical = { D0_ref = 1e4, alpha_ref = 0, D_offset_ref = 0, D0_sample = 3e4, alpha_sample = 0.2,
                  D_offset_sample = 10, v0 = 1e3, v_beta = 0, v_offset = 0, f0 = 0.5, f1 = 0.1, f2 = 0,
                  f3 = 0.1, phi0_het = 0, q = 0.0054, dt = 0.1 }
local aging   = { D0_ref = 8000, alpha_ref = -0.8, D_offset_ref = 100, D0_sample = 2e4, alpha_sample = -0.5,
                  D_offset_sample = -3000, v0 = 500, v_beta = -0.4, v_offset = 10, f0 = 0.8, f1 = -0.5, f2 = 0.3,
                  f3 = -0.2, phi0_het = 3, q = 0.0054, dt = 0.1 }
m.test(point(typical, { variant = "parity", phi = 0, contrast = 0.3, offset = 1, t1 = 0.1, t2 = 0.1,
    c2 = 1.299999999991252 }))
m.test(point(typical, { variant = "parity", phi = 0, contrast = 0.3, offset = 1, t1 = 0.3, t2 = 1,
    c2 = 1.050038243142522 }))
m.test(point(typical, { variant = "parity_xpcsjax", phi = 0, contrast = 0.3, offset = 1, t1 = 0.3, t2 = 1,
    c2 = 1.050038243142522 }))
m.test(point(typical, { variant = "parity_hard", phi = 0, contrast = 0.3, offset = 1, t1 = 0.3, t2 = 1,
    c2 = 1.0500382432985258 }))
m.test(point(typical, { variant = "parity", phi = 45, contrast = 0.27, offset = 1.01, t1 = 0.1, t2 = 1.4,
    c2 = 1.0862245263753196 }))
m.test(point(typical, { variant = "parity", phi = 90, contrast = 0.31, offset = 0.99, t1 = 1.3, t2 = 0.4,
    c2 = 1.1537272365394988 }))
m.test(point(typical, { phi = 0, contrast = 0.3, offset = 1, t1 = 0.3, t2 = 1,
    c2 = 1.05003824314252195 }))
m.test(point(typical, { phi = 45, contrast = 0.27, offset = 1.01, t1 = 0.1, t2 = 1.4,
    c2 = 1.08622452637531963 }))
m.test(point(typical, { phi = 90, contrast = 0.31, offset = 0.99, t1 = 0.4, t2 = 1.3,
    c2 = 1.15372723653949884 }))
m.test(point(typical, { phi = 0, contrast = 0.3, offset = 1, t1 = 0, t2 = 0.6,
    c2 = 1.03534369912849673 }))
m.test(point(aging, { phi = 0, contrast = 0.3, offset = 1, t1 = 0.3, t2 = 1,
    c2 = 1.02739796806325838 }))
m.test(point(aging, { phi = 45, contrast = 0.27, offset = 1.01, t1 = 0.1, t2 = 1.4,
    c2 = 1.01370073698432969 }))
m.test(point(aging, { phi = 90, contrast = 0.31, offset = 0.99, t1 = 0, t2 = 40,
    c2 = 0.995590741436259627 }))
m.test(point(aging, { phi = 0, contrast = 0.3, offset = 1, t1 = 0, t2 = 0.6,
    c2 = 1.0326095561285141 }))
