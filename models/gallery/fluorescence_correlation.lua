local m = model "fluorescence_correlation" {
    title = "Fluorescence correlation: diffusion through a Gaussian volume, molecules with a dark triplet state",
    formula = [[
G(tau) = (1/N) (1 + T/(1 - T) exp(-tau/tau_t)) / ((1 + x) sqrt(1 + x/kappa^2)),   x = tau/tau_d
tau_d = w^2/(4 D)]],
    reference = [[
D. Magde, E. Elson and W. W. Webb, Phys. Rev. Lett. 29 (1972) 705;
J. Widengren, U. Mets and R. Rigler, J. Phys. Chem. 99 (1995) 13368, the triplet state]],
    validity = "One species; the volume is Gaussian, kappa times longer than wide; w and kappa from a dye of known D.",
}

local tau, G, s = m.columns({ "tau", unit = "ms", range = {1e-4, 1e3}, doc = "delay" }, "G", "s")
local kappa = m.setting("kappa", { default = 5, doc = "length of the volume over its width" })
local w = m.setting("w", { unit = "um", default = 0.25, doc = "radius at which the intensity is exp(-2)" })
local N = m.parameter("N", { start = 2, bounds = {0.01, 1000}, doc = "molecules in the volume" })
local tau_d = m.parameter("tau_d", { unit = "ms", start = 0.3, bounds = {0.01, 100}, doc = "time of diffusion" })
local tau_t = m.parameter("tau_t", { unit = "us", start = 3, bounds = {0.1, 100}, doc = "lifetime of the triplet" })
local T = m.parameter("T", { start = 0.1, bounds = {0, 0.9}, doc = "part of the molecules in the triplet" })

local x = tau / tau_d
local dark = 1 + T / (1 - T) * exp(-tau / convert(tau_t, "ms"))
m.observe(G, { mean = dark / (N * (1 + x) * sqrt(1 + x / kappa^2)), sigma = s })
m.derived("D", convert(w^2 / (4 * tau_d), "um^2/s"), { doc = "diffusion coefficient" })

m.random(function(u) return { N = 10^u(-1, 2), tau_d = 10^u(-1, 1), tau_t = 10^u(0, 1), T = u(0.05, 0.5) } end)

-- mpmath, 40 digits
local function point(tau, G)
    m.test { tau = tau, N = 2.5, tau_d = 0.25, tau_t = 4, T = 0.2, G = G, D = 62.5, tolerance = 1e-14 }
end
point(10, 0.00605047485801016859)
point(0.25, 0.196116135138184032)
point(0.002, 0.456923987266934431)
