-- A is ampere or angstrom.
local m = model "bad" { title = "x" }
local q = m.setting("q", "A^-1")
