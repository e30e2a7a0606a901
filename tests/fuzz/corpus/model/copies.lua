local s = string.rep("x", 10010000)
local n=0
for k=1,1000000 do if s .. "a" < s .. "b" then n = n + 1 end end
