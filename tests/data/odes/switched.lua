local m = model "switched" { title = "A body that follows a temperature which is switched" }
local t, around, y = m.columns({ "t", unit = "s", range = {0.25, 20} }, { "around", unit = "K", range = {280, 320} },
    "y:K")
local tau = m.parameter("tau", { unit = "s", start = 3, bounds = {0.1, 100} })
local T0  = m.parameter("T0", { unit = "K", start = 290, bounds = {250, 350} })
local T   = m.state("T", { unit = "K", before = T0 })
m.ode(t, { columns = "held", stiff = true, [T] = (around - T) / tau })
m.observe(y, { mean = T })
m.random(function(u) return { tau = u(1, 10), T0 = u(280, 300) } end)

-- each row until the next: the closed form, 40 digits
m.test { tau = 3.5, T0 = 290, t = {0.5, 1, 2.5, 2.5, 6, 20}, around = {300, 310, 290, 285, 315, 300},
         y = {291.331221002498184, 292.485227069247141, 298.590192829119913, 298.590192829119913, 289.999552543388776,
              314.542100832327936}, tolerance = 1e-13 }
