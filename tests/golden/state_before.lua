-- What a state is before the first row is not said.
local m = model "bad" { title = "x" }
local x, y = m.columns({ "x", range = {-1, 1} }, { "y", range = {-1, 1} })
local e = m.state("e", { unit = "mV" })
