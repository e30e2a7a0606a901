local m = model "sum_three_deep" { title = "sum_three_deep" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 5} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
local function s(f) return sum(1, 3, f) end
m.observe(y, { mean = s(function(i) return s(function(j) return s(function(k) return exp(-i * j * k * a * x) end) end) end) })
