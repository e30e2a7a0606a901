local m = model "diffusion_q" {
    title = "Intensity correlation at several wavevectors with one law of diffusion",
    formula = [[
g2(q, delay) = baseline(q) + contrast(q) exp(-2 rate delay),   rate(q) = D q^2 (q/q_ref)^(power - 2)
]],
    reference = "B. J. Berne and R. Pecora, Dynamic Light Scattering, Wiley (1976), Siegert relation",
    validity = [[
rate is that of the field, 1/tau(q).  power = 2 is diffusion: D is then the diffusion coefficient, at all q.
Otherwise D is the apparent one at q = q_ref; power = 1 is ballistic, power above 2 subdiffusive motion.
Plain diffusion: --fix power=2.  Give q_ref in the middle of the range.  Rows with the same q to the last digit
are one curve; each curve has its own contrast and baseline.]],
}

local q = m.axis("q", "1/angstrom", "wavevector: rows with the same q are one curve")
local delay, g2, sigma = m.columns({ "delay", unit = "s", doc = "delay time" },
                                   { "g2", doc = "normalised intensity correlation" },
                                   { "sigma", doc = "standard deviation of g2" })
local q_ref = m.setting("q_ref", { unit = "1/angstrom", default = 0.01, doc = "wavevector at which D is quoted" })

local D = m.parameter("D", { unit = "angstrom^2/s", start = 1e4, bounds = {1e-3, 1e12}, prior = {"log_uniform"},
    doc = "diffusion coefficient, at q_ref" })
local power = m.parameter("power", { start = 2, bounds = {0, 6}, prior = {"truncated_normal", 2, 0.5},
    doc = "exponent of q in the rate; 2: diffusion" })
local contrast = m.parameter("contrast", { over = q, start = 0.2, bounds = {0, 2}, doc = "speckle contrast" })
local baseline = m.parameter("baseline", { over = q, start = 1, bounds = {0, 2}, doc = "value at long delays" })

local rate = D * q^2 * (q / q_ref)^(power - 2)
m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigma = sigma,
                linear = {contrast, baseline} })

m.random(function(u) return { D = 10^u(2, 8), power = u(1, 3) } end)

-- Test points: the formula above in 40 digits.
local function point(more)
    more.D, more.contrast, more.baseline = 4e4, 0.2, 1.01
    return more
end
m.test(point { q = 0.01,  delay = 0.05, power = 2,   q_ref = 0.01,  g2 = 1.14406400920712787 })
m.test(point { q = 0.004, delay = 0.3,  power = 2.3, q_ref = 0.01,  g2 = 1.15939723632923741 })
m.test(point { q = 0.02,  delay = 0.01, power = 1.2, q_ref = 0.015, g2 = 1.16510520749451389 })
