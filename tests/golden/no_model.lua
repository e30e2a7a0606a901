-- No model.
local x = 1
