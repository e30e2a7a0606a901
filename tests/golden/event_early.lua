-- Events belong to a differential equation.
local m = model "bad" { title = "x" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, { "y", unit = "mV" })
local u = m.state("u", { unit = "mV", before = 1 * unit "mV" })
m.event(2, { [u] = 1 * unit "mV" })
m.observe(y, { mean = u })
