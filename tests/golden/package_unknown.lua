local m = model "foreign" { package = "numpy", mode = "flow" }
