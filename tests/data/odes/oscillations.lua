local m = model "oscillations" {
    title = "Oscillations whose steps are short at times and long at others: the Brusselator",
    reference = "I. Prigogine and R. Lefever, J. Chem. Phys. 48 (1968) 1695",
}
local t, y, s = m.columns({ "t", unit = "s", range = {0, 30} }, "y", "s")
local A = m.parameter("A", { start = 1, bounds = {0.5, 2} })
local B = m.parameter("B", { start = 3, bounds = {1, 5} })
local k = m.parameter("k", { unit = "1/s", start = 1, bounds = {0.5, 3} })
local u = m.state("u", { before = 1 })
local v = m.state("v", { before = 2 })
m.ode(t, { [u] = k * (A + u^2 * v - (B + 1) * u), [v] = k * (B * u - u^2 * v) })
m.observe(y, { mean = u, sigma = s })
m.random(function(r) return { A = r(0.6, 1.5), B = r(2, 5), k = r(0.5, 3) } end)
-- Taylor series of 40 terms, 34 digits
m.test { t = {10, 30}, A = 0.6875, B = 4.75, k = 2.5, y = {0.13282704508552711438, 0.14957891094550090892},
         tolerance = 1e-10 }
