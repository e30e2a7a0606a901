-- A decay behind a Gaussian, of which erfcx overflows.
local m = model "bad" { title = "x" }
local t, n = m.columns({ "t", unit = "ns", range = {0, 50} }, { "n", unit = "1/ns" })
local w = m.parameter("w", { unit = "ns", start = 0.2, bounds = {0.02, 1} })
local tau = m.parameter("tau", { unit = "ns", start = 1, bounds = {0.1, 20} })
local u = t / w
m.observe(n, { mean = erfcx((w / tau - u) / sqrt(2)) * exp(-u^2 / 2) / (2 * tau) })
