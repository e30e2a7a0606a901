-- A misspelt unit.
local m = model "bad" { title = "x" }
local q = m.setting("q", "1/angstorm")
