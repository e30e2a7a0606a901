-- A misspelt field, in a function of the model.
local m = model "bad" { title = "x" }
local x, y = m.columns({"x", range={0,1} }, {"y"})
local p = { width = 2, height = { 1, 2 } }
local q
local k = 2
local function f(c) return c * x + p.widht * x end -- a[7]
m.observe(y, { mean = f(1) })
