-- One square root in two lines: where d is 0 only the first takes its slope, the second chooses something else there.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", range = { 0, 20 } }, "y")
local w = m.parameter("w", { start = 1, bounds = { 0.05, 20 } })
local g = m.parameter("g", { start = 1, bounds = { 0, 20 } })
local d = (g^2 - w^2) * t^2
local C = where(lt(d, 0), cos(sqrt(-d)), cosh(sqrt(d)))
local S = where(lt(abs(d), 0.1), 1 + d / 6,
                where(lt(d, 0), sinc(sqrt(-d)), sinh(sqrt(d)) / sqrt(d)))
m.observe(y, { mean = C + S })
