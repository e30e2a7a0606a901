local m = model "nelson" {
    title = "Dielectric breakdown strength of insulation that ages",
    formula = "log_y(x1, x2) = b1 - b2 * x1 * exp(-b3 * x2)",
    reference = [[
W. Nelson, IEEE Trans. Reliability R-30 (1981) 149-155;
NIST Statistical Reference Datasets, nonlinear regression: Nelson (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.
The response is the logarithm: the column log_y of the table.]],
}

local x1, x2, log_y = m.columns({ "x1", doc = "time, weeks" }, { "x2", doc = "temperature, degC" },
                                  { "log_y", doc = "logarithm of the breakdown strength in kV" })

local b1 = m.parameter("b1", { start = 2.5, doc = "logarithm of the initial strength" })
local b2 = m.parameter("b2", { start = 5e-09, doc = "rate of ageing at 0 degC, per week" })
local b3 = m.parameter("b3", { start = -0.05, doc = "growth of the rate per degC, negative" })

local mean = b1 - b2 * x1 * exp(-b3 * x2)
m.observe(log_y, { mean = mean, linear = {b1, b2} })

m.test { x1 = 1, x2 = 180, b1 = 2.5, b2 = 5e-09, b3 = -0.05, log_y = 2.499959484580362 }
m.test { x1 = 16, x2 = 180, b1 = 2.5, b2 = 5e-09, b3 = -0.05, log_y = 2.499351753285794 }
