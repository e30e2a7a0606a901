local t = {} for k=1,3000000 do t[k]=1 end for k=1,100000 do table.insert(t,1,2) end
