local m = model "two_compartment" {
    title = "Two compartments after a dose into the blood, subjects that differ",
    formula = [[
dA/dt = -(CL + Q)/V1 A + Q/V2 P,   dP/dt = Q/V1 A - Q/V2 P,   A + dose at t = 0;   conc = A/V1
CL = typical CL exp(spread_CL own_CL),  V1 likewise, with own_CL, own_V1 normal (0, 1)]],
    reference = [[
M. Rowland and T. N. Tozer, Clinical Pharmacokinetics (1995);  L. B. Sheiner, B. Rosenberg and V. V. Marathe,
J. Pharmacokinet. Biopharm. 5 (1977) 445, random effects;  data: K. C. Kwan et al., J. Pharmacokinet. Biopharm. 4 (1976)
255, indomethacin, 25 mg, six subjects]],
    validity = [[
Linear kinetics; a dose at once.  What subjects have of their own needs --share own_CL=per_subject, --share
own_V1=per_subject and draws from the posterior (--method nuts); for one curve of all, hold it: --fix own_CL=0,
--fix own_V1=0, and the spreads.]],
}

local subject = m.axis("subject", { doc = "number of the subject", range = {1, 6} })
local t, conc = m.columns({ "t", unit = "hour", range = {0.25, 8} },
    { "conc", unit = "mg/L", range = {0.02, 5}, doc = "in plasma" })
local dose = m.setting("dose", { unit = "mg", default = 25, doc = "at time 0" })

local CL = m.parameter("CL", { unit = "L/hour", start = 8, bounds = {0.5, 100}, prior = log_normal(2, 1),
    doc = "clearance" })
local V1 = m.parameter("V1", { unit = "L", start = 8, bounds = {0.5, 100}, prior = log_normal(2, 1),
    doc = "volume of the blood and what exchanges with it at once" })
local Q = m.parameter("Q", { unit = "L/hour", start = 6, bounds = {0.2, 100}, prior = log_normal(2, 1),
    doc = "exchange between the compartments" })
local V2 = m.parameter("V2", { unit = "L", start = 15, bounds = {0.5, 200}, prior = log_normal(2.5, 1),
    doc = "volume of the other compartment" })
local spread_CL = m.parameter("spread_CL", { start = 0.2, bounds = {0, 3}, prior = {"half_normal", 0.5},
    doc = "standard deviation of ln CL between subjects" })
local spread_V1 = m.parameter("spread_V1", { start = 0.2, bounds = {0, 3}, prior = {"half_normal", 0.5} })
local own_CL = m.parameter("own_CL", { start = 0, bounds = {-6, 6}, prior = {"normal", 0, 1} })
local own_V1 = m.parameter("own_V1", { start = 0, bounds = {-6, 6}, prior = {"normal", 0, 1} })
local s = m.parameter("s", { start = 0.2, bounds = {0.01, 2}, prior = {"half_normal", 0.5},
    doc = "relative error of a concentration" })

local clearance = CL * exp(spread_CL * own_CL)
local volume = V1 * exp(spread_V1 * own_V1)
local A = m.state("A", { unit = "mg", before = 0, doc = "in the blood" })
local P = m.state("P", { unit = "mg", before = 0, doc = "elsewhere" })
m.ode(t, { [A] = -(clearance + Q) / volume * A + Q / V2 * P, [P] = Q / volume * A - Q / V2 * P })
m.event(0, { [A] = dose })
m.observe(conc, { mean = A / volume, noise = lognormal { sd = s } })
m.random(function(u)
    return { CL = u(5, 12), V1 = u(5, 12), Q = u(4, 9), V2 = u(10, 25), spread_CL = u(0.1, 0.4),
             spread_V1 = u(0.1, 0.4), own_CL = u(-1, 1), own_V1 = u(-1, 1), s = u(0.1, 0.3) }
end)

-- the two exponentials of the closed form, 40 digits
m.test { subject = 1, dose = 25, CL = 8, V1 = 9, Q = 5.5, V2 = 16, spread_CL = 0.25, own_CL = 0, spread_V1 = 0.5,
         own_V1 = 0, s = 0.2, t = {0.25, 2, 8},
         conc = {1.92298532400542365, 0.297582390671139138, 0.0689060213190861926}, tolerance = 1e-12 }
m.test { subject = 2, dose = 25, CL = 8, V1 = 9, Q = 5.5, V2 = 16, spread_CL = 0.25, own_CL = 1.5, spread_V1 = 0.5,
         own_V1 = -1, s = 0.2, t = {0.25, 2, 8},
         conc = {2.11798695154033291, 0.120885925867995381, 0.0296649470353219726}, tolerance = 1e-12 }
