local m = model "double_exponential" {
    title = "Intensity correlation with two relaxations of the field",
    formula = [[
g2(delay) = baseline + contrast g1^2
g1 = fraction exp(-delay/tau_fast) + (1 - fraction) exp(-delay/tau_slow)
]],
    reference = [[
B. J. Berne and R. Pecora, Dynamic Light Scattering, Wiley (1976), Siegert relation;
two steps of g1 in dense colloids: W. van Megen and S. M. Underwood, Phys. Rev. E 49 (1994) 4206]],
    validity = [[
Two species, or two steps of one: rattling in the cage and escape from it.  1 - fraction is then the height of
the plateau.  tau_fast and tau_slow belong to the field.  The amplitudes add before they are squared: a g2 that
is a sum of two exponentials is a different model.
Exchanging the two (fraction with 1 - fraction) leaves g2 as it is: bound one of the times when the data leave
room for both orders.  The two are not resolved below tau_slow/tau_fast = 3 or so.]],
}

local delay, g2, sigma = m.columns({ "delay", unit = "s", doc = "delay time" },
                                   { "g2", doc = "normalised intensity correlation" },
                                   { "sigma", doc = "standard deviation of g2" })

local tau_fast = m.parameter("tau_fast", { unit = "s", start = 0.1, bounds = {1e-9, 1e6},
    prior = {"log_uniform"}, doc = "relaxation time of the first step" })
local tau_slow = m.parameter("tau_slow", { unit = "s", start = 10, bounds = {1e-9, 1e6},
    prior = {"log_uniform"}, doc = "relaxation time of the second step" })
local fraction = m.parameter("fraction", { start = 0.5, bounds = {0, 1},
    prior = {"beta", 1, 1}, doc = "part of the field that relaxes in the first step" })
local contrast = m.parameter("contrast", { start = 0.2, bounds = {0, 2}, doc = "speckle contrast" })
local baseline = m.parameter("baseline", { start = 1, bounds = {0, 2}, doc = "value at long delays" })

local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow)
local g1 = fraction * fast + (1 - fraction) * slow
m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear = {contrast, baseline} })

m.random(function(u)
    local log_fast = u(-6, 2)
    return { tau_fast = 10^log_fast, tau_slow = 10^(log_fast + u(0.5, 3)), fraction = u(0.1, 0.9) }
end)

-- Test points: the formula above in 40 digits.
m.test { delay = 0.02, tau_fast = 0.05, tau_slow = 4, fraction = 0.3, contrast = 0.2, baseline = 1.02,
         g2 = 1.18113885717364034 }
m.test { delay = 3, tau_fast = 0.05, tau_slow = 4, fraction = 0.3, contrast = 0.2, baseline = 1.02,
         g2 = 1.04186675569454614 }
m.test { delay = 1, tau_fast = 1, tau_slow = 1, fraction = 0.5, contrast = 0.3, baseline = 1,
         g2 = 1.04060058497098381 }
