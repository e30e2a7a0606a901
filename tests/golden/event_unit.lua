-- An amount in another unit than that of its state.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, { "y", unit = "mV" })
local k = m.parameter("k", { unit = "1/s", start = 0.5, bounds = {0, 1} })
local u = m.state("u", { unit = "mV", before = 1 * unit "mV" })
m.ode(t, { [u] = -k * u })
m.event(2, { [u] = k })
m.observe(y, { mean = u })
