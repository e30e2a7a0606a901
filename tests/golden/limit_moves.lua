-- Few steps, each of which moves a table.
local t = {}
for k = 1, 100000 do table.insert(t, 1, k) end
