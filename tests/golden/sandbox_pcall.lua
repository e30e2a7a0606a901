-- Limits cannot be caught.
pcall(error)
