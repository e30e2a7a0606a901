local m = model "photon_decay" {
    title = "Photon counts that decay onto a background",
    formula = "mean of n = width (background + amplitude exp(-t / tau)),   n is Poisson",
    reference = "D. V. O'Connor and D. Phillips, Time-correlated single photon counting, Academic Press (1984)",
    validity = [[
Few counts: least squares would take sqrt(n) for the error of n, and be wrong where n is small or 0.]],
}

local t, width, n = m.columns({ "t", unit = "ns", doc = "middle of the time bin", range = {0, 20} },
                              { "width", unit = "ns", doc = "of the bin", range = {0.2, 2} },
                              { "n", unit = "count", doc = "photons counted in it", range = {0, 60} })

local tau = m.parameter("tau", { unit = "ns", start = 3, bounds = {0.05, 500}, prior = {"log_normal", 1, 1},
    doc = "lifetime" })
local amplitude = m.parameter("amplitude", { unit = "count/ns", start = 30, bounds = {0, 1e6},
    prior = {"half_normal", 200}, doc = "rate at time 0" })
local background = m.parameter("background", { unit = "count/ns", start = 2, bounds = {1e-3, 1e6},
    prior = {"half_normal", 20}, doc = "rate of the background" })

m.observe(n, { mean = width * (background + amplitude * exp(-t / tau)), noise = poisson() })

m.random(function(u) return { tau = u(1, 6), amplitude = u(10, 60), background = u(0.5, 6) } end)
m.test { t = 3, width = 0.5, tau = 3, amplitude = 40, background = 2, n = 8.357588823428847 }
