-- Recursion without an end.
local function f(x) return 1 + f(x) end
f(1)
