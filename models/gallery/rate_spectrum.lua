local m = model "rate_spectrum" {
    title = "A decay as a sum of exponentials with given rates and amplitudes that are not negative",
    formula = "y = sum over k of a[k] exp(-rate[k] t),   rate[k] = 10^(-2 + k/4) / s,   a[k] >= 0",
    reference = [[
S. W. Provencher, Comput. Phys. Commun. 27 (1982) 213 (CONTIN, without its regulariser);
C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23]],
    validity = [[
The grid is a ruler, not a result: neighbouring amplitudes are strongly correlated, sums over a decade are not.
Most amplitudes lie on their bound 0.]],
}

local t, y, s = m.columns({ "t", unit = "s", range = {0.01, 100} }, "y", "s")
local mean, area, moment = 0, 0, 0
for k = 1, 13 do
    local rate = 10^(-2 + k / 4) / second
    local a = m.parameter("a" .. k, { start = 0.1, bounds = {0, 10}, linear = false,
                                      doc = string.format("amplitude at %.3g/s", 10^(-2 + k / 4)) })
    mean = mean + a * exp(-rate * t)
    area, moment = area + a, moment + a / rate
end
m.observe(y, { mean = mean, sigma = s })
m.derived("mean_time", moment / area, { doc = "mean relaxation time" })

-- amplitudes 0.01, 0.02, ... 0.13
local one = { t = 2, y = 0.191204313837848554 }
for k = 1, 13 do one["a" .. k] = k / 100 end
m.test(one)
