-- Few steps, each of which copies megabytes.
local s, n = string.rep("x", 10010000), 0
for k = 1, 1000000 do if s .. "a" < s .. "b" then n = n + 1 end end
