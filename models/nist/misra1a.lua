local m = model "misra1a" {
    title = "Monomolecular adsorption: exponential saturation",
    formula = "y(x) = b1 * (1 - exp(-b2 * x))",
    reference = [[
D. Misra, NIST (1978), dental research, monomolecular adsorption study;
NIST Statistical Reference Datasets, nonlinear regression: Misra1a (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "pressure" }, { "y", doc = "volume adsorbed" })

local b1 = m.parameter("b1", { start = 250, doc = "volume at saturation" })
local b2 = m.parameter("b2", { start = 0.0005, doc = "rate per pressure" })

local mean = b1 * (1 - exp(-b2 * x))
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 77.6, b1 = 250, b2 = 0.0005, y = 9.514230368876856 }
m.test { x = 378.4, b1 = 250, b2 = 0.0005, y = 43.09475851299471 }
