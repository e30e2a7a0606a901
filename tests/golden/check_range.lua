-- A range of the axis: all derivatives are tested.
local m = model "check" { title = "x" }
local T = m.axis("T", { unit = "K", range = {280, 340} })
local t, G = m.columns({ "t", unit = "s", range = {1e-3, 1e3} }, "G")
local E = m.parameter("E", { unit = "kJ/mol", start = 30, bounds = {20, 300} })
local G0 = m.parameter("G0", { over = T, start = 100 })
local R = 8.314462618 * unit "J/(mol*K)"
m.observe(G, { mean = G0 * exp(-(t / second) * exp(convert(E / R * (1 / T - 1 / (300 * kelvin)), "1"))) })
