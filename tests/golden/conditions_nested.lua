local m = model "conditions_nested" { title = [[conditions
of Lua itself]] }
local x, y = m.columns({ "x", range = {0, 1} }, "y") -- if x then
local function opt(f, g)
    if f ~= nil and (g == nil or not g) then return f elseif g then return 2 * f else return x end
end
local n, text = 0, "if x then"
while (function() do if n > 2 then return false end end return true end)() do
    for k = 1, 2 do if k == 1 and not (n == 7) then n = n + 1 end end
end
repeat local done = n >= 3 until done
do local a = m.parameter("a", { start = 1 })
    local c = nil or a
    m.observe(y, { mean = opt(c) + opt(a, true) * x^(n - 2) })
end
assert(n == 3 and #text == 9)
