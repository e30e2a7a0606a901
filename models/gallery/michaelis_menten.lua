local m = model "michaelis_menten" {
    title = "Rate of an enzyme with a mixed inhibitor",
    formula = "v = Vmax S / (Km (1 + I/Kc) + S (1 + I/Ku))",
    reference = [[
L. Michaelis and M. L. Menten, Biochem. Z. 49 (1913) 333;
A. Cornish-Bowden, Biochem. J. 137 (1974) 143, mixed inhibition]],
    validity = [[
Initial rates, much less enzyme than substrate.  Ku much larger than Kc: competitive; Kc much larger: uncompetitive;
equal: pure non-competitive inhibition.]],
}

local S, I, v, s = m.columns({ "S", unit = "uM", range = {1, 100}, doc = "substrate" },
    { "I", unit = "uM", range = {0, 20}, doc = "inhibitor" }, { "v", unit = "uM/s", doc = "initial rate" },
    { "s", unit = "uM/s", doc = "standard deviation of v" })
local Vmax = m.parameter("Vmax", { unit = "uM/s", start = 1, doc = "rate at much substrate" })
local Km = m.parameter("Km", { unit = "uM", start = 10, bounds = {0.1, 1e3}, doc = "Michaelis constant" })
local Kc = m.parameter("Kc", { unit = "uM", start = 5, bounds = {0.05, 1e4},
    doc = "of the inhibitor on the free enzyme" })
local Ku = m.parameter("Ku", { unit = "uM", start = 20, bounds = {0.05, 1e4}, doc = "of the inhibitor on the complex" })

m.observe(v, { mean = Vmax * S / (Km * (1 + I / Kc) + S * (1 + I / Ku)), sigma = s })

m.derived("competitive", Ku / Kc, { doc = "above 1: the inhibitor competes with the substrate" })

m.test { S = 20, I = 5, Vmax = 2.4, Km = 12, Kc = 3, Ku = 15, v = 0.818181818181818182 }
