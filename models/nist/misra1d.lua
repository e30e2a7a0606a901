local m = model "misra1d" {
    title = "Monomolecular adsorption: Langmuir isotherm",
    formula = "y(x) = b1 * b2 * x / (1 + b2 * x)",
    reference = [[
D. Misra, NIST (1978), dental research, monomolecular adsorption;
NIST Statistical Reference Datasets, nonlinear regression: Misra1d (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "pressure" }, { "y", doc = "volume adsorbed" })

local b1 = m.parameter("b1", { start = 450, doc = "volume at saturation" })
local b2 = m.parameter("b2", { start = 0.0003, doc = "rate per pressure" })

local mean = b1 * b2 * x / (1 + b2 * x)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 77.6, b1 = 450, b2 = 0.0003, y = 10.237667109686496 }
m.test { x = 378.4, b1 = 450, b2 = 0.0003, y = 45.87614052733673 }
