local s = string.rep("x", 5000000)
for k=1,100000 do print(s) end
