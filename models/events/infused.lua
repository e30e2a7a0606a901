local m = model "infused" {
    title = "Two compartments: an infusion of unknown duration, then a dose at once",
    formula = "dX/dt = pump - (k10 + k12) X + k21 P,  dP/dt = k12 X - k21 P;  pump = dose/T from 1 h to 1 h + T",
}
local t, y = m.columns({ "t", unit = "hour", range = {0, 24} }, { "y", unit = "mg/L" })
local dose = m.setting("dose", { unit = "mg", default = 100 })
local k10 = m.parameter("k10", { unit = "1/hour", start = 0.3, bounds = {0.02, 2} })
local k12 = m.parameter("k12", { unit = "1/hour", start = 0.5, bounds = {0.02, 2} })
local k21 = m.parameter("k21", { unit = "1/hour", start = 0.2, bounds = {0.02, 2} })
local V = m.parameter("V", { unit = "L", start = 10, bounds = {1, 100} })
local T = m.parameter("T", { unit = "hour", start = 3, bounds = {0.5, 6}, doc = "how long the infusion lasts" })

local X = m.state("X", { unit = "mg", before = 0 })
local P = m.state("P", { unit = "mg", before = 0 })
local pump = m.state("pump", { unit = "mg/hour", before = 0 })
m.ode(t, { [X] = pump - (k10 + k12) * X + k21 * P, [P] = k12 * X - k21 * P, [pump] = 0 })
m.event(1, { [pump] = dose / T })
m.event(1 * hour + T, { [pump] = -dose / T })
m.event(8, { [X] = dose / 2 })
m.observe(y, { mean = X / V })
m.random(function(u) return { k10 = u(0.2, 0.5), k12 = u(0.2, 0.8), k21 = u(0.1, 0.4), V = u(5, 20), T = u(1, 5) } end)
