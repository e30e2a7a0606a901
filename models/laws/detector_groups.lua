local m = model "detector_groups" {
    title = "Efficiency of several detectors near their threshold",
    formula = [[
k of `trials` photons are seen;   logit of the efficiency = level(detector) + slope log(E / E0);
level(detector) is normal (mu, spread)]],
    reference =
        "A. Gelman and J. Hill, Data Analysis Using Regression and Multilevel/Hierarchical Models (2007), chapter 14",
    validity = "Detectors are of one kind: what is learned of one tells something about the others.",
}

local detector = m.axis("detector", "1", "number of the detector")
local E, trials, k = m.columns({ "E", unit = "keV", doc = "photon energy", range = {4, 12} },
                               { "trials", doc = "photons sent", range = {8, 40} },
                               { "k", doc = "photons seen", range = {0, 7} })

local mu = m.parameter("mu", { start = 0, prior = {"normal", 0, 2}, doc = "mean level of the detectors" })
local spread = m.parameter("spread", { start = 0.5, bounds = {0, math.huge}, prior = {"half_normal", 1},
    doc = "of the levels between detectors" })
local level = m.parameter("level", { start = 0, over = detector, prior = normal(mu, spread),
    doc = "logit of the efficiency at 8 keV" })
local slope = m.parameter("slope", { start = 3, prior = {"normal", 0, 5}, doc = "steepness of the threshold" })

m.observe(k, { noise = binomial { trials = trials, logit = level + slope * log(E / (8 * unit "keV")) } })

m.test { E = 8, trials = 20, detector = 1, level = 0, slope = 3, k = 10 }
