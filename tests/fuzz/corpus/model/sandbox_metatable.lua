-- Metatables.
getmetatable("").__index = nil
