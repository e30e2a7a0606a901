local m = model "oscillatory_shear" {
    title = "Homodyne two-time correlation of a colloid under oscillating shear",
    formula = [[
c2(phi, t1, t2) = offset + contrast exp(-2 q^2 D (t2 - t1)) sinc(X)^2,   sinc X = sin X / X
X = q gap/2 cos(phi0 - phi) (strain(t2) - strain(t1))
strain(t) = strain0 sin(2 pi frequency t + delta): the integral of the shear rate
strain0 2 pi frequency cos(2 pi frequency t + delta)
]],
    reference = [[
G. G. Fuller et al., J. Fluid Mech. 100 (1980) 555; W. R. Burghardt et al., Phys. Rev. E 85 (2012) 021402;
echoes under oscillating shear: P. Hebraud et al., Phys. Rev. Lett. 78 (1997) 4657]],
    validity = [[
Affine, reversible strain, the same in the whole gap, and free diffusion besides it: the correlation returns
after whole periods but for the diffusion.  Plastic events, slip and Taylor dispersion are not in it.  Frames
are short compared with the period.
strain0 with delta + pi is -strain0: both signs of the flow fit alike, delta and delta + pi are one solution.
Only strain0 cos(phi0 - phi) is determined from one angle.  frequency is that of the rheometer, on the clock of
the detector; D is the diffusion coefficient of Stokes and Einstein.]],
}

local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth of the detector sector")
local q   = m.setting("q", "1/angstrom", "wavevector")
local gap = m.setting("gap", "angstrom", "distance of the plates")
local frequency = m.setting("frequency", "1/s", "oscillations per second")

local D = m.parameter("D", { unit = "angstrom^2/s", start = 1000, bounds = {1, 1e9}, prior = {"log_uniform"},
    doc = "diffusion coefficient" })
local strain0 = m.parameter("strain0", { start = 1e-3, bounds = {1e-8, 10}, prior = {"log_uniform"},
    doc = "amplitude of the strain" })
local delta = m.parameter("delta", { unit = "rad", start = 0, bounds = {-2 * pi, 2 * pi},
    prior = {"truncated_normal", 0, 2}, doc = "phase of the strain at t = 0" })
local phi0 = m.parameter("phi0", { unit = "deg", start = 0, bounds = {-90, 90},
    prior = {"truncated_normal", 0, 5}, doc = "direction of the flow" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1},
    prior = {"truncated_normal", 0.3, 0.25}, doc = "speckle contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    prior = {"truncated_normal", 1, 0.25}, doc = "baseline" })

-- The strain itself, not a sum of rates over frames: exact for any frame period.
local strain = strain0 * sin(2 * pi * frequency * t + delta)
local t1, t2 = pair(t)
local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at(strain, t1))
local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X)
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, linear = {contrast, offset} })
m.curve("strain", strain, "strain")

m.random(function(u)
    return { D = 10^u(1, 5), strain0 = 10^u(-5, -1), delta = u(-pi / 2, pi / 2), phi0 = u(-10, 10) }
end)

-- Test points: the formula above in 40 digits.
local function point(more)
    more.D, more.strain0, more.delta, more.phi0, more.contrast, more.offset = 3000, 4e-4, 0.3, -4, 0.3, 1
    more.q, more.gap, more.frequency, more.dt = 0.0054, 2e6, 0.5, 0.05
    return more
end
m.test(point { phi = 0,  t1 = 0,    t2 = 0.05, c2 = 1.28772994807099231 })
m.test(point { phi = 0,  t1 = 0.2,  t2 = 1.35, c2 = 1.00698499323975331 })
m.test(point { phi = 30, t1 = 0.25, t2 = 2.3,  c2 = 1.20871947574563563 })
m.test(point { phi = 86, t1 = 0.1,  t2 = 1,    c2 = 1.25629227043820421 })
