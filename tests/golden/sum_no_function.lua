local m = model "sum_no_function" { title = "sum_no_function" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = sum(1, 5, exp(-a * x)) })
