local m = model "misra1c" {
    title = "Monomolecular adsorption: saturation with a square root",
    formula = "y(x) = b1 * (1 - (1 + 2 * b2 * x)^-0.5)",
    reference = [[
D. Misra, NIST (1978), dental research, monomolecular adsorption;
NIST Statistical Reference Datasets, nonlinear regression: Misra1c (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "pressure" }, { "y", doc = "volume adsorbed" })

local b1 = m.parameter("b1", { start = 600, doc = "volume at saturation" })
local b2 = m.parameter("b2", { start = 0.0002, doc = "rate per pressure" })

local mean = b1 * (1 - (1 + 2 * b2 * x)^-0.5)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 77.6, b1 = 600, b2 = 0.0002, y = 9.100675941168166 }
m.test { x = 378.4, b1 = 600, b2 = 0.0002, y = 40.82765839560532 }
