-- Three free arrays over three axes, two of them grids of different shapes: for test_imaging_arrays.c.
local m = objective "two_arrays" { title = "Two images and gains",
    formula = "mean w |exp(g) (A exp(x) + i B y + A x^2) - v|^2 + variations + sum g^2" }
local fine, coarse = m.grid("fine", "row", "column"), m.grid("coarse", "row", "column")
local station, uv = m.axis("station"), m.axis("uv")
local x = m.free("x", fine)
local g = m.free("g", station)
local y = m.free("y", coarse)
local v, w = m.data("v", uv, { complex = true }), m.data("w", uv)
local zx, zs = m.outer("zx", uv, exp(x), "A"), m.outer("zs", uv, x ^ 2, "A")
local zy = m.outer("zy", uv, y, "B")
local gain = exp(m.gather("gain", uv, g, "station_of"))
m.term("fit", { kind = "data", value = m.mean(w * abs(gain * (zx + i * zy + zs) - v) ^ 2), offset = -1 })
m.term("fine", { kind = "regularizer",
    value = m.sum(m.difference("x_row", x, "row") ^ 2 + m.difference("x_column", x, "column") ^ 2) })
m.term("coarse", { kind = "regularizer",
    value = m.sum(m.difference("y_row", y, "row") ^ 2 + 2 * m.difference("y_column", y, "column") ^ 2) })
m.term("gains", { kind = "prior", value = m.sum(g ^ 2) })
