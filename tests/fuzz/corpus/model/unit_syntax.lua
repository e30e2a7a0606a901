-- Not a unit.
local m = model "bad" { title = "x" }
local q = m.setting("q", "angstrom^")
