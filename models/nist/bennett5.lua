local m = model "bennett5" {
    title = "Magnetisation of a superconductor",
    formula = "y(x) = b1 * (b2 + x)^(-1 / b3)",
    reference = [[
L. Bennett, L. Swartzendruber, H. Brown, NIST (1994), superconductivity magnetization modeling;
NIST Statistical Reference Datasets, nonlinear regression: Bennett5 (public domain)]],
    validity = [[
Level of difficulty: higher.  The start is the second of the two that come with the data.
The three parameters are nearly one direction: correlations of 0.9999.]],
}

local x, y = m.columns({ "x", doc = "logarithm of the time in minutes" },
                         { "y", doc = "magnetism" })

local b1 = m.parameter("b1", { start = -1500, doc = "amplitude" })
local b2 = m.parameter("b2", { start = 45, bounds = {0, math.huge},
    doc = "shift of x" })
local b3 = m.parameter("b3", { start = 0.85, doc = "inverse exponent" })

local mean = b1 * (b2 + x)^(-1 / b3)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 7.447168, b1 = -1500, b2 = 45, b3 = 0.85, y = -14.219648338790272 }
m.test { x = 11.59442, b1 = -1500, b2 = 45, b3 = 0.85, y = -13.001835139281352 }
