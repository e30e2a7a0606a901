local m = model "dose_records" {
    title = "Doses as they stand in the file: by mouth and into the blood, two compartments, subjects that differ",
    formula = [[
dG/dt = -ka G,   dA/dt = ka G - (CL + Q)/V1 A + Q/V2 P,   dP/dt = Q/V1 A - Q/V2 P,   conc = A/V1
a row with amt adds F amt to G (cmt 1) or amt to A (cmt 2) at its time
ln CL of a subject is normal (typical, spread)]],
    reference = [[
M. Rowland and T. N. Tozer, Clinical Pharmacokinetics (1995);  L. B. Sheiner, B. Rosenberg and V. V. Marathe,
J. Pharmacokinet. Biopharm. 5 (1977) 445, random effects;  records of events: S. L. Beal and L. B. Sheiner, NONMEM
Users Guides (1989)]],
    validity = [[
Linear kinetics.  Doses by mouth alone do not determine F.  Each subject has a clearance of its own, whose distribution
is found by draws from the posterior (--method nuts); --share CL=shared is one clearance for all.]],
}

local subject = m.axis("subject", { doc = "number of the subject", range = {1, 12} })
local t, amt, cmt, conc = m.columns({ "t", unit = "hour", range = {0.5, 24} },
    { "amt", unit = "mg", empty = 0, range = {0, 100}, doc = "dose of this row" },
    { "cmt", empty = 1, range = {1, 2}, doc = "where it goes: 1 gut, 2 blood" },
    { "conc", unit = "mg/L", range = {0.01, 5}, doc = "in plasma; rows of doses have none" })

local ka = m.parameter("ka", { unit = "1/hour", start = 1, bounds = {0.05, 20}, prior = log_normal(0, 1),
    doc = "absorption" })
local F = m.parameter("F", { start = 0.7, bounds = {0.05, 1}, prior = {"beta", 2, 1},
    doc = "part of a dose by mouth that arrives" })
local typical = m.parameter("typical", { start = 1.6, prior = {"normal", 1.6, 1}, doc = "mean of ln(CL hour/L)" })
local spread = m.parameter("spread", { start = 0.2, bounds = {0, math.huge}, prior = {"half_normal", 0.5},
    doc = "standard deviation of ln CL between subjects" })
local CL = m.parameter("CL", { over = subject, start = 5, bounds = {0, math.huge}, prior = log_normal(typical, spread),
    doc = "clearance in L/hour" })
local V1 = m.parameter("V1", { unit = "L", start = 20, bounds = {1, 200}, prior = log_normal(3, 1),
    doc = "volume of the blood and what exchanges with it at once" })
local Q = m.parameter("Q", { unit = "L/hour", start = 4, bounds = {0.1, 100}, prior = log_normal(1.5, 1),
    doc = "exchange between the compartments" })
local V2 = m.parameter("V2", { unit = "L", start = 30, bounds = {1, 300}, prior = log_normal(3, 1),
    doc = "volume of the other compartment" })
local s = m.parameter("s", { start = 0.1, bounds = {0.01, 2}, prior = {"half_normal", 0.5},
    doc = "relative error of a concentration" })

local clearance = CL * unit "L/hour"
local G = m.state("G", { unit = "mg", before = 0, doc = "in the gut" })
local A = m.state("A", { unit = "mg", before = 0, doc = "in the blood" })
local P = m.state("P", { unit = "mg", before = 0, doc = "elsewhere" })
m.ode(t, { [G] = -ka * G, [A] = ka * G - (clearance + Q) / V1 * A + Q / V2 * P, [P] = Q / V1 * A - Q / V2 * P })
local by_mouth = lt(cmt, 1.5)
m.event(t, { [G] = where(by_mouth, F * amt, 0 * amt), [A] = where(by_mouth, 0 * amt, amt) })
m.observe(conc, { mean = A / V1, noise = lognormal { sd = s } })
m.random(function(u)
    return { ka = u(0.5, 2), F = u(0.4, 0.9), CL = u(3, 10), V1 = u(10, 30), Q = u(3, 8), V2 = u(15, 40),
             s = u(0.05, 0.2) }
end)

-- exponentials of the matrix of rates from row to row, 40 digits; the dose of the last row tells how large doses are
m.test { subject = 1, ka = 1.25, F = 0.75, CL = 8, V1 = 20, Q = 5, V2 = 30, s = 0.1,
         t = {0, 1, 2, 4, 4, 5, 12, 13.5, 24}, amt = {100, 0, 0, 50, 0, 0, 100, 0, 100},
         cmt = {1, 1, 1, 2, 1, 1, 1, 1, 1},
         conc = {0, 1.85695000530451099, 1.55949751934520131, 3.20801462295452697, 3.20801462295452697,
                 1.8329430657226121, 0.30775580309713807, 2.05374478994979876, 0.259102147128007148},
         tolerance = 1e-12 }
m.test { subject = 2, ka = 0.5, F = 0.75, CL = 4, V1 = 10, Q = 5, V2 = 30, s = 0.1, t = {0, 0.5, 8},
         amt = {100, 0, 100}, cmt = {2, 1, 1}, conc = {10, 6.45175528366494761, 0.631544722938449333},
         tolerance = 1e-12 }
