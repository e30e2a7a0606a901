local m = model "foreign" { mode = "laminar_flow" }
