local m = model "sphere" {
    title = "Small-angle scattering of a dilute suspension of equal spheres",
    formula = [[
I(q) = background + scale V delta_rho^2 f^2,   V = 4 pi/3 radius^3
f = 3 (sin x - x cos x)/x^3,   x = q radius
]],
    reference = [[
Lord Rayleigh, Proc. R. Soc. Lond. A 90 (1914) 219;
A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955)]],
    validity = [[
Dilute (no structure factor), homogeneous spheres of one size, perfect resolution: a spread of radii, or of q,
fills the minima.  Only scale delta_rho^2 is determined; scale is the volume fraction when I is in absolute
units and delta_rho is known.  delta_rho is the difference of scattering length densities of sphere and
solvent.]],
}

local q, I, sigma = m.columns({ "q", unit = "1/angstrom", doc = "wavevector" },
                              { "I", unit = "1/cm", doc = "differential cross section per volume" },
                              { "sigma", unit = "1/cm", doc = "standard deviation of I" })
local delta_rho = m.setting("delta_rho", { unit = "1/angstrom^2", default = 1e-6,
    doc = "difference of scattering length densities" })

local radius = m.parameter("radius", { unit = "angstrom", start = 100, bounds = {1, 1e5},
    prior = {"log_uniform"}, doc = "radius of the sphere" })
local scale = m.parameter("scale", { start = 0.01, bounds = {0, math.huge}, doc = "volume fraction" })
local background = m.parameter("background", { unit = "1/cm", start = 0, bounds = {-math.huge, math.huge},
    doc = "constant background" })

-- f, the amplitude.  sin x - x cos x loses the digits that cancel, 3 eps/x^2 of f; below x = 1/2 its Taylor
-- series is used, which is cut where the next term is below 1e-17.  At the zeros of f, tan x = x, the error
-- is that of the neighbourhood; nothing is divided by f.
local x = q * radius
local function series(y) -- y = x^2;  f = sum over n of 3 (-1)^n (2 n + 2) y^n/(2 n + 3)!
    return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180)))))
end
local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3)

local V = 4 * pi / 3 * radius^3
local form = convert(V * delta_rho^2, "1/cm") * f^2
m.observe(I, { mean = background + scale * form, sigma = sigma, linear = {scale, background} })

m.random(function(u) return { radius = 10^u(1, 4) } end)

-- Test points: the formula above in 40 digits, at x = 1e-4, 0.49, 0.51, 1.8, at the first zero of f, and far
-- beyond it.
local function point(q, radius, I)
    return { q = q, radius = radius, scale = 0.01, background = 0.002, delta_rho = 2e-6, I = I }
end
m.test(point(1e-6, 100, 16.7571607856352412))
m.test(point(0.0049, 100, 15.9689415046629732))
m.test(point(0.0051, 100, 15.9047416348012159))
m.test(point(0.018, 100, 8.47977688468799934))
m.test(point(0.04493409457909064, 100, 0.00200000000000000004))
m.test(point(0.0805, 423, 0.00870792056273448921))
m.test(point(0.3, 423, 0.00200453091101044834))
