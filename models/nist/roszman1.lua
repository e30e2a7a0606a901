local m = model "roszman1" {
    title = "Quantum defects of sulphur I",
    formula = "y(x) = b1 - b2 * x - atan(b3 / (x - b4)) / pi",
    reference = [[
L. Roszman, NIST (19??), quantum defects for sulfur I atom;
NIST Statistical Reference Datasets, nonlinear regression: Roszman1 (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "energy of the excited state" },
                         { "y", doc = "quantum defect" })

local b1 = m.parameter("b1", { start = 0.2, doc = "defect without the resonance" })
local b2 = m.parameter("b2", { start = -5e-06, doc = "slope" })
local b3 = m.parameter("b3", { start = 1200, doc = "width of the resonance" })
local b4 = m.parameter("b4", { start = -150, doc = "energy of the resonance" })

local mean = b1 - b2 * x - atan(b3 / (x - b4)) / pi
m.observe(y, { mean = mean, linear = {b1, b2} })

m.test { x = -4868.68, b1 = 0.2, b2 = -5e-06, b3 = 1200, b4 = -150, y = 0.2549251540086485 }
m.test { x = -1495.85, b1 = 0.2, b2 = -5e-06, b3 = 1200, b4 = -150, y = 0.4243049061060113 }
