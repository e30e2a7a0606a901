local m = model "misra1b" {
    title = "Monomolecular adsorption: saturation of second order",
    formula = "y(x) = b1 * (1 - (1 + b2 * x / 2)^-2)",
    reference = [[
D. Misra, NIST (1978), dental research, monomolecular adsorption study;
NIST Statistical Reference Datasets, nonlinear regression: Misra1b (public domain)]],
    validity = [[
Level of difficulty: lower.  The start is the second of the two that come with the data.]],
}

local x, y = m.columns({ "x", doc = "pressure" }, { "y", doc = "volume adsorbed" })

local b1 = m.parameter("b1", { start = 300, doc = "volume at saturation" })
local b2 = m.parameter("b2", { start = 0.0002, doc = "rate per pressure" })

local mean = b1 * (1 - (1 + b2 * x / 2)^-2)
m.observe(y, { mean = mean, linear = {b1} })

m.test { x = 77.6, b1 = 300, b2 = 0.0002, y = 4.602359517247847 }
m.test { x = 378.4, b1 = 300, b2 = 0.0002, y = 21.477397491219318 }
