return { init = function(x) return 0 end, update = function(g, state, x, f) while true do end end }
