local m = model "cylinder_sizes" {
    title = "Small-angle scattering of cylinders in all directions, with many radii",
    formula = [[
I(q) = background + (volume fraction delta_rho^2 / <V>) << (V F)^2 >>
F = sinc(q L x/2) 2 J1(q R sqrt(1 - x^2)) / (q R sqrt(1 - x^2)),   V = pi R^2 L
x, the cosine of the angle between q and the axis, is uniform from 0 to 1;   R is log-normal (median radius, width)]],
    reference = [[
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955);
J. S. Pedersen, Adv. Colloid Interface Sci. 70 (1997) 171, equations 17 and 18]],
    validity = "Dilute, stiff, no preferred direction, one length; perfect resolution.",
}

local q, I, s = m.columns(
    { "q", unit = "1/nm", range = {0.02, 1}, doc = "wavevector" },
    { "I", unit = "1/cm", doc = "differential cross section per volume" },
    { "s", unit = "1/cm", doc = "standard deviation of I" })
local delta_rho = m.setting("delta_rho", { unit = "1/nm^2", default = 3e-4,
    doc = "difference of scattering length densities" })

local length = m.parameter("length", { unit = "nm", start = 30, bounds = {10, 60} })
local radius = m.parameter("radius", { unit = "nm", start = 4, bounds = {2, 8}, doc = "median radius" })
local width  = m.parameter("width", { start = 0.1, bounds = {0.02, 0.2}, doc = "standard deviation of ln R" })
local scale  = m.parameter("scale", { start = 0.01, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0.01 })

local sizes = { "log_normal", median = radius, sd = width }
local squares = average({ "uniform", from = 0, to = 1 }, function(x)
    local along, across = sinc(q * length * x / 2), q * sqrt(1 - x^2)
    return along^2 * average(sizes, function(R)
        return (2 * bessel_j(1, across * R) / (across * R) * pi * R^2)^2
    end, { nodes = 15 })
end, { nodes = 40 })
local section = average(sizes, function(R) return pi * R^2 end)

m.observe(I, { mean = background + scale * convert(delta_rho^2 * length * squares / section, "1/cm"), sigma = s })

m.random(function(u) return { length = u(15, 50), radius = u(3, 6), width = u(0.05, 0.15) } end)

-- double quadrature of mpmath, 22 digits
local function point(q, I)
    m.test { q = q, length = 40, radius = 4, width = 0.125, scale = 0.01, background = 0.02, I = I }
end
point(0.03125, 18.9990634698647019)
point(0.25, 4.47271684605892366)
point(0.75, 0.120884420693149538)
