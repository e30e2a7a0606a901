local m = model "sum_outside_mean" { title = "sum_outside_mean" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
local kept
local s = sum(1, 5, function(k) kept = exp(-k * a * x); return kept end)
m.observe(y, { mean = kept })
