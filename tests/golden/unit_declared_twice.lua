-- A unit that is known.
local m = model "bad" { title = "x", units = {"second"} }
