-- Memory.
local s = "x"
for k = 1, 40 do s = s .. s end
