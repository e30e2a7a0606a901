-- Three measured quantities in three units, curves of two temperatures, a law of the errors that all have in common.
local m = model "quantities" { title = "A relaxation seen three ways" }
local T = m.axis("T", { unit = "K", range = {280, 320} })
local t, V, I, n = m.columns({ "t", unit = "s", range = {0, 5} }, "V:mV", "I:nA", "n")
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {0.1, 10} })
local V0 = m.parameter("V0", { unit = "mV", start = 100, bounds = {1, 1e4}, over = T })
local I0 = m.parameter("I0", { unit = "nA", start = 2, bounds = {0, 100} })
local sV = m.parameter("sV", { unit = "mV", start = 1, bounds = {0.001, 100} })
local sI = m.parameter("sI", { unit = "nA", start = 0.1, bounds = {0.001, 10} })
m.observe(V, { mean = V0 * exp(-rate * t), noise = gaussian { sd = sV } })
m.observe(I, { mean = I0 * exp(-rate * t / 2), noise = gaussian { sd = sI } })
m.observe(n, { mean = 10 * exp(-2 * rate * t), noise = gaussian { sd = 0.5 } })
m.test { T = 300, t = 1, rate = 1, V0 = 100, I0 = 2, V = 36.787944117144233, I = 1.2130613194252668 }
m.test { T = 300, t = 0.5, rate = 1, V0 = 100, I0 = 2, n = 3.6787944117144233 }
