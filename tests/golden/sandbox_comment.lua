-- Texts go into comments of C.
local m = model "bad" { title = "*/ int x; /*" }
