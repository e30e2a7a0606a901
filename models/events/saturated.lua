local m = model "saturated" {
    title = "Elimination that saturates; a part of what is there is removed twice, at times that are fitted",
    formula = "dC/dt = -Vm C/(Km + C);  C falls by part C at td and at td + 6 h",
}
local t, y = m.columns({ "t", unit = "hour", range = {0, 24} }, { "y", unit = "mg/L" })
local C0 = m.parameter("C0", { unit = "mg/L", start = 20, bounds = {1, 100} })
local Vm = m.parameter("Vm", { unit = "mg/L/hour", start = 2, bounds = {0.2, 10} })
local Km = m.parameter("Km", { unit = "mg/L", start = 4, bounds = {0.2, 50} })
local part = m.parameter("part", { start = 0.4, bounds = {0, 0.9} })
local td = m.parameter("td", { unit = "hour", start = 2, bounds = {0.1, 10} })

local C = m.state("C", { unit = "mg/L", before = C0 })
m.ode(t, { [C] = -Vm * C / (Km + C), stiff = true })
m.event({ td, td + 6 * hour }, { [C] = -part * C })
m.observe(y, { mean = C })
m.random(function(u) return { C0 = u(15, 30), Vm = u(1, 2), Km = u(3, 6), part = u(0.2, 0.6), td = u(1, 4) } end)
