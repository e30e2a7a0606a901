local m = model "m" {}
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 0.7, bounds = {0.5, 1.5} })
-- (1 - a)^20 multiplied out: nearly all digits cancel, those of the derivative as well
local sum, c = 0, 1
for k = 0, 20 do
    sum = sum + c * (-a)^k
    c = c * (20 - k) / (k + 1)
end
m.observe(y, { mean = sum * exp(-x / second) })
