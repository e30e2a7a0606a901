local m = model "core_shell_smeared" {
    title = "Small-angle scattering of core-shell spheres of many sizes, seen with finite resolution",
    formula = [[
I(q) = background + (volume fraction / <V>) << F(k, R)^2 >>
F = (rho_core - rho_shell) V(R) f(k R) + (rho_shell - rho_solvent) V(R + d) f(k (R + d))
f(x) = 3 j1(x)/x,   V(R) = 4 pi/3 R^3
R is log-normal (median radius, width),   k is normal (q, dq)]],
    reference = [[
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955);
J. S. Pedersen, D. Posselt and K. Mortensen, J. Appl. Cryst. 23 (1990) 321, resolution]],
    validity = [[
Dilute; shells of one thickness; smearing within +-4 dq in the plane of q only.  rho_core and rho_solvent are known, for
example from densities; else only ratios of differences are determined.]],
}

local q, dq, I, s = m.columns(
    { "q", unit = "1/nm", range = {0.05, 1.2}, doc = "wavevector" },
    { "dq", unit = "1/nm", range = {0.002, 0.02}, doc = "standard deviation of the resolution" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local rho_core    = m.setting("rho_core", { unit = "1/nm^2", default = 4e-4, doc = "scattering length density" })
local rho_solvent = m.setting("rho_solvent", { unit = "1/nm^2", default = 6.3e-4 })

local radius = m.parameter("radius", { unit = "nm", start = 8, bounds = {3, 15}, doc = "median radius of the core" })
local width  = m.parameter("width", { start = 0.1, bounds = {0.01, 0.2}, doc = "standard deviation of ln R" })
local d      = m.parameter("d", { unit = "nm", start = 2, bounds = {0.5, 6}, doc = "thickness of the shell" })
local rho_shell = m.parameter("rho_shell", { unit = "1/nm^2", start = 1e-4, bounds = {-1e-3, 1e-3} })
local scale  = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.01 })

local function V(R) return 4 * pi / 3 * R^3 end
local function f(x) return 3 * (sin(x) - x * cos(x)) / x^3 end   -- q R above 0.15: three digits of sixteen are lost
local function F(k, R)
    return (rho_core - rho_shell) * V(R) * f(k * R) + (rho_shell - rho_solvent) * V(R + d) * f(k * (R + d))
end

local sizes = { "log_normal", median = radius, sd = width }
local cross_section = average({ "normal", mean = q, sd = dq }, function(k)
    return average(sizes, function(R) return F(k, R)^2 end, { nodes = 30 })
end, { nodes = 9 })
local volume = average(sizes, function(R) return V(R + d) end)

m.observe(I, { mean = background + scale * convert(cross_section / volume, "1/cm"), sigma = s })

m.random(function(u) return { radius = u(6, 12), width = u(0.05, 0.15), d = u(1, 4), rho_shell = u(-2e-4, 3e-4) } end)

-- double quadrature of mpmath, 22 digits
local function point(q, dq, I)
    m.test { q = q, dq = dq, radius = 8, width = 0.1, d = 2, rho_shell = 1e-4, scale = 0.01, background = 0.02, I = I }
end
point(0.1, 0.003, 49.22964026748235)
point(0.6, 0.01, 0.5091075992241643)
