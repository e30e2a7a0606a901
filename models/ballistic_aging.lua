local m = model "ballistic_aging" {
    title = "Two-time correlation with a compressed relaxation that slows down with the age of the sample",
    formula = [[
c2(phi, t1, t2) = offset + contrast exp(-2 ((t2 - t1)/tau)^gamma)
tau(age) = tau_ref (age/age_ref)^mu,   age = age_start + (t1 + t2)/2
]],
    reference = [[
L. Cipelletti et al., Phys. Rev. Lett. 84 (2000) 2275, and Faraday Discuss. 123 (2003) 237;
A. Fluerasu et al., Phys. Rev. E 76 (2007) 010401; age as in O. Bikondoa, J. Appl. Cryst. 50 (2017) 357]],
    validity = [[
Gels and glasses whose dynamics are driven by internal stress: gamma is 1.5 for ballistic displacements with
the broad distribution of velocities of dipoles, and tau goes as 1/q; gamma = 1, tau as 1/q^2 is diffusion.
mu = 0 is no ageing, mu = 1 full ageing.  tau must change little within tau itself: mu tau below the age.
tau_ref, mu: quoted at age_ref, give an age in the middle of the measurement.  tau belongs to the field.]],
}

local t   = m.grid("t", "s")
local phi = m.axis("phi", "deg", "azimuth of the detector sector")
local age_start = m.setting("age_start", { unit = "s", default = 0, doc = "age of the sample at t = 0" })
local age_ref   = m.setting("age_ref", { unit = "s", default = 100, doc = "age at which tau is tau_ref" })

local tau_ref = m.parameter("tau_ref", { unit = "s", start = 10, bounds = {1e-6, 1e7}, prior = {"log_uniform"},
    doc = "relaxation time of the field at the age age_ref" })
local mu = m.parameter("mu", { start = 0, bounds = {-3, 3}, prior = {"truncated_normal", 0.5, 0.5},
    doc = "exponent of ageing" })
local gamma = m.parameter("gamma", { start = 1.5, bounds = {0.2, 3}, prior = {"truncated_normal", 1.5, 0.5},
    doc = "exponent of the relaxation: 1.5 ballistic, 1 simple" })
local contrast = m.parameter("contrast", { over = phi, start = 0.3, bounds = {0, 1},
    prior = {"truncated_normal", 0.3, 0.25}, doc = "speckle contrast" })
local offset = m.parameter("offset", { over = phi, start = 1, bounds = {0.5, 1.5},
    prior = {"truncated_normal", 1, 0.25}, doc = "baseline" })

-- The age is 0 on the diagonal only, at t1 = t2 = 0.
local t1, t2 = pair(t)
local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4)
local tau = tau_ref * (age / age_ref)^mu
local g1  = exp(-((t2 - t1) / tau)^gamma)
m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, linear = {contrast, offset} })
m.curve("tau", tau_ref * (floor_at(age_start + t, t.step / 4) / age_ref)^mu, "relaxation time at the age of t")

m.random(function(u) return { tau_ref = 10^u(-1, 4), mu = u(-0.5, 1.5), gamma = u(0.6, 2) } end)

-- Test points: the formula above in 40 digits.
local function point(more)
    more.age_start, more.age_ref, more.phi, more.dt = 50, 100, 0, 0.5
    more.tau_ref, more.contrast, more.offset = 12, 0.3, 1
    return more
end
m.test(point { mu = 0.9,  gamma = 1.5, t1 = 0,  t2 = 0.5, c2 = 1.28735317129063509 })
m.test(point { mu = 0.9,  gamma = 1.5, t1 = 20, t2 = 28,  c2 = 1.05850497234516128 })
m.test(point { mu = -0.4, gamma = 0.8, t1 = 3,  t2 = 40,  c2 = 1.00360285190495598 })
