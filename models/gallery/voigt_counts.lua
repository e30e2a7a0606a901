local m = model "voigt_counts" {
    title = "Photon counts of a spectral line with natural and Doppler width",
    formula = [[
n is Poisson,   mean = background + area V(nu - center)
V(x) = Re w(z) / (sigma sqrt(2 pi)),   z = (x + i gamma) / (sigma sqrt 2)]],
    reference = [[
W. Voigt, Sitzungsber. K. Bayer. Akad. Wiss. (1912) 603;
B. H. Armstrong, J. Quant. Spectrosc. Radiat. Transfer 7 (1967) 61]],
    validity = "One line on a flat background; collisions change neither width, and no channel is saturated.",
}

local nu, n = m.columns({ "nu", unit = "GHz", range = {-6, 6}, doc = "detuning" },
                        { "n", unit = "count", range = {0, 400} })
local center = m.parameter("center", { unit = "GHz", start = 0, bounds = {-3, 3}, doc = "of the line" })
local sigma  = m.parameter("sigma", { unit = "GHz", start = 0.5, bounds = {0.02, 5},
    doc = "Doppler width, standard deviation" })
local gamma  = m.parameter("gamma", { unit = "GHz", start = 0.5, bounds = {0.02, 5},
    doc = "half of the natural width" })
local area   = m.parameter("area", { unit = "count*GHz", start = 500, bounds = {1, 1e7}, doc = "below the line" })
local background = m.parameter("background", { unit = "count", start = 10, bounds = {0.01, 1e6} })

m.observe(n, { mean = background + area * voigt(nu - center, sigma, gamma), noise = poisson() })

m.derived("fwhm_doppler", 2 * math.sqrt(2 * math.log(2)) * sigma, { doc = "Doppler width, full at half of the height" })

m.random(function(u)
    return { center = u(-1, 1), sigma = 10^u(-1, 0), gamma = 10^u(-1, 0), area = 10^u(2, 3), background = 10^u(0, 2) }
end)

-- mpmath, 40 digits
local function point(nu, sigma, gamma, n)
    m.test { nu = nu, center = 0, sigma = sigma, gamma = gamma, area = 500, background = 10, n = n }
end
point(0, 0.5, 0.5, 218.709280520367689)
point(1.5, 0.25, 1, 60.6477636256927172)
point(-3, 1, 0.03125, 13.0999714520961741)
