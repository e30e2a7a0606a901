local m = model "oral_lag" {
    title = "Four doses by mouth that come late by a lag, and two into the blood",
    formula = [[
dA/dt = -ka A,  dC/dt = ka A/V - k C;
A + F dose at lag + 0, 12, 24, 36 h,  C + t dose/(10 h V) at 20, 30.5 h]],
}
local t, y, dose = m.columns({ "t", unit = "hour", range = {0, 48} }, { "y", unit = "mg/L" },
    { "dose", unit = "mg", range = {100, 200}, doc = "the same in all rows of a subject" })
local ka = m.parameter("ka", { unit = "1/hour", start = 1, bounds = {0.2, 5} })
local k = m.parameter("k", { unit = "1/hour", start = 0.1, bounds = {0.02, 1} })
local V = m.parameter("V", { unit = "L", start = 10, bounds = {1, 100} })
local F = m.parameter("F", { start = 0.8, bounds = {0.1, 1} })
local lag = m.parameter("lag", { unit = "hour", start = 0.4, bounds = {0.01, 2} })

local A = m.state("A", { unit = "mg", before = 0, doc = "in the gut" })
local C = m.state("C", { unit = "mg/L", before = 0, doc = "in the blood" })
m.ode(t, { [A] = -ka * A, [C] = ka * A / V - k * C })
for n = 0, 3 do m.event(12 * n * hour + lag, { [A] = F * dose }) end
m.event({ 20, 30.5 }, { [C] = 0.1 * t / hour * dose / V })
m.observe(y, { mean = C })
m.random(function(u) return { ka = u(0.5, 2), k = u(0.05, 0.3), V = u(5, 20), F = u(0.5, 1), lag = u(0.1, 1) } end)
