-- Patterns can take for ever.
local s = ("a"):rep(30):find(("a?"):rep(30))
