-- Other code.
local ffi = require "ffi"
