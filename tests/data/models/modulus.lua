local m = model "modulus" {
    title = "Storage and loss modulus of a Maxwell element together, for tests",
    formula = "part 0: G (omega tau)^2 / (1 + (omega tau)^2);  part 1: G omega tau / (1 + (omega tau)^2)",
}
local omega, part, G, s = m.columns({ "omega", unit = "1/s", range = {0.01, 100} },
                                    { "part", range = {0, 1}, doc = "0: storage, 1: loss" }, { "G", unit = "Pa" },
                                    { "s", unit = "Pa" })
local G0 = m.parameter("G0", { unit = "Pa", start = 100, bounds = {0, 1e6} })
local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {0.02, 50} })
local x = omega * tau
m.observe(G, { mean = where(lt(part, 0.5), G0 * x^2 / (1 + x^2), G0 * x / (1 + x^2)), sigma = s })
m.test { omega = 1, part = 1, G0 = 2, tau = 1, G = 1 }
