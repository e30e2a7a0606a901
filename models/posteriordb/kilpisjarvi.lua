local m = model "kilpisjarvi" {
    title = "Summer temperature at Kilpisjarvi by year",
    formula = [[
y = alpha + beta x]],
    reference = [[
J. S. Hall and others' records of the Finnish Meteorological Institute;
posteriordb: kilpisjarvi_mod-kilpisjarvi]],
    validity = [[
Priors as in the data set: alpha normal (9.31290322580645, 100), beta normal (0, 0.0333333333333333);
noise level: flat.]],
}

local x, y = m.columns(
    { "x", doc = "year" },
    { "y", doc = "mean temperature of June, July and August, degrees Celsius" })

local alpha = m.parameter("alpha",
    { start = 0, prior = {"normal", 9.31290322580645, 100}, doc = "temperature at year 0" })
local beta = m.parameter("beta", { start = 0, prior = {"normal", 0, 0.0333333333333333}, doc = "change per year" })

local mean = alpha + beta * x
m.observe(y, { mean = mean, noise = {"none"}, linear = {alpha, beta} })
