local m = model "lanczos3" {
    title = "Three exponentials, 5 digits",
    formula = "y(x) = b1 * exp(-b2 * x) + b3 * exp(-b4 * x) + b5 * exp(-b6 * x)",
    reference = [[
C. Lanczos, Applied Analysis, Prentice Hall (1956) 272-280;
NIST Statistical Reference Datasets, nonlinear regression: Lanczos3 (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.
The order of the terms is a matter of the start.]],
}

local x, y = m.columns({ "x", doc = "time" }, { "y", doc = "sum of the decays" })

local b1 = m.parameter("b1", { start = 0.5, doc = "amplitude of the first decay" })
local b2 = m.parameter("b2", { start = 0.7, doc = "rate of the first decay" })
local b3 = m.parameter("b3", { start = 3.6, doc = "amplitude of the second decay" })
local b4 = m.parameter("b4", { start = 4.2, doc = "rate of the second decay" })
local b5 = m.parameter("b5", { start = 4, doc = "amplitude of the third decay" })
local b6 = m.parameter("b6", { start = 6.3, doc = "rate of the third decay" })

local mean = b1 * exp(-b2 * x) + b3 * exp(-b4 * x) + b5 * exp(-b6 * x)
m.observe(y, { mean = mean, linear = {b1, b3, b5} })

m.test { x = 0, b1 = 0.5, b2 = 0.7, b3 = 3.6, b4 = 4.2, b5 = 4, b6 = 6.3, y = 8.1 }
m.test { x = 0.6,
         b1 = 0.5, b2 = 0.7, b3 = 3.6, b4 = 4.2, b5 = 4, b6 = 6.3,
         y = 0.709468759906217 }
