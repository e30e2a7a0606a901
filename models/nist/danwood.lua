local m = model "danwood" {
    title = "Energy radiated by a carbon filament lamp",
    formula = "y(x) = b1 * x^b2",
    reference = [[
C. Daniel, F. S. Wood, Fitting Equations to Data, 2nd ed., Wiley (1980) 428-431;
NIST Statistical Reference Datasets, nonlinear regression: DanWood (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "absolute temperature of the filament, 1000 K" },
                         { "y", doc = "energy radiated per cm^2 and second" })

local b1 = m.parameter("b1", { start = 0.7, doc = "energy at 1000 K" })
local b2 = m.parameter("b2", { start = 4, doc = "exponent; 4 for a black body" })

local mean = b1 * x^b2
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 1.309, b1 = 0.7, b2 = 4, y = 2.0552119961526993 }
m.test { x = 1.565, b1 = 0.7, b2 = 4, y = 4.199092170437499 }
