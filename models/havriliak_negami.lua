local m = model "havriliak_negami" {
    title = "Dielectric relaxation with a broad, skewed distribution of times, and conductivity",
    formula = [[
eps(omega) = eps_inf + delta_eps/(1 + (i omega tau)^alpha)^beta + sigma_dc/(i omega eps_0)
eps = storage - i loss]],
    reference = [[
S. Havriliak and S. Negami, Polymer 8 (1967) 161, equation 2; alpha is their 1 - alpha.
Debye: alpha = beta = 1; Cole and Cole (1941): beta = 1; Davidson and Cole (1951): alpha = 1]],
    validity = [[
One process and ohmic conduction; no polarisation of electrodes, which at low frequencies looks like a second process.
alpha and beta lie on their bound 1 where the process is symmetric, or has one time only.]],
}

local omega, storage, s_storage, loss, s_loss = m.columns(
    { "omega", unit = "1/s", range = {1e-2, 1e7}, doc = "angular frequency" },
    { "storage", doc = "real part of the relative permittivity" },
    { "s_storage", doc = "standard deviation of storage" },
    { "loss", doc = "imaginary part of the relative permittivity, positive" },
    { "s_loss", doc = "standard deviation of loss" })

local delta_eps = m.parameter("delta_eps", { start = 5, bounds = {0, 1e5}, doc = "strength" })
local eps_inf   = m.parameter("eps_inf", { start = 2, bounds = {1, 100}, doc = "permittivity far above the process" })
local sigma_dc  = m.parameter("sigma_dc", { unit = "S/m", start = 1e-12, bounds = {0, 1}, doc = "conductivity" })
local tau   = m.parameter("tau", { unit = "s", start = 1e-3, bounds = {1e-8, 1e3}, prior = {"log_uniform"},
    doc = "relaxation time" })
local alpha = m.parameter("alpha", { start = 0.8, bounds = {0.1, 1}, doc = "width: 1 is one time" })
local beta  = m.parameter("beta", { start = 0.7, bounds = {0.1, 1}, doc = "skewness: 1 is none" })

local eps_0 = 8.8541878188e-12 * unit "F/m"                         -- CODATA 2022
local eps = eps_inf + delta_eps / (1 + (i * omega * tau)^alpha)^beta
          + convert(sigma_dc / (eps_0 * omega), "1") / i

m.observe(storage, { mean = re(eps), sigma = s_storage })
m.observe(loss, { mean = -im(eps), sigma = s_loss })

m.random(function(u) return { tau = 10^u(-6, 1), alpha = u(0.4, 1), beta = u(0.3, 1) } end)

-- mpmath, 40 digits.
local function point(omega, alpha, beta, storage, loss)
    m.test { omega = omega, delta_eps = 5, eps_inf = 2, sigma_dc = 3e-12, tau = 1e-3, alpha = alpha, beta = beta,
             storage = storage, loss = loss }
end
point(1, 0.8, 0.7, 6.99565622540495083, 0.352046691518927916)
point(1000, 0.8, 0.7, 5.23031023012366893, 1.52040743425070928)
point(1000000, 0.8, 0.7, 2.06674340830304844, 0.0802458157147914291)
point(500, 1, 1, 6.0, 2.00067764543996461)
point(3, 0.4, 0.3, 6.8842418603146473, 0.191014382604271157)
