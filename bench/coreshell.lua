local m = model "coreshell" {
    title = "Core-shell spheres with a log-normal distribution of core radii, 40 nodes",
    reference = "Guinier, Fournet, Small-Angle Scattering of X-Rays, 1955",
}
local q, I = m.columns({ "q", unit = "1/nm", range = {0.01, 1} }, "I")
local R0 = m.parameter("R0", { unit = "nm", start = 10, bounds = {5, 15}, doc = "median core radius" })
local width = m.parameter("width", { start = 0.1, bounds = {0.01, 0.15}, doc = "sd of ln R" })
local d = m.parameter("d", { unit = "nm", start = 3, bounds = {0.5, 5}, doc = "thickness of the shell" })
local ratio = m.parameter("ratio",
    { start = 0.5, bounds = {-3, 3}, doc = "contrast of the shell over that of the core" })
local scale = m.parameter("scale", { start = 1 })
local background = m.parameter("background", { start = 0.01 })

local function amplitude(y)                        -- (sin y - y cos y) / y^3
    local z = y^2
    local series = 1/3 - z/30 * (1 - z/28 * (1 - z/54 * (1 - z/88 * (1 - z/130 * (1 - z/180 * (1 - z/238))))))
    local far = floor_at(y, 0.5)
    return where(lt(y, 1), series, (sin(far) - far * cos(far)) / far^3)
end
local mean = average({ "log_normal", median = R0, sd = width }, function(R)
    local core, whole = (R / nanometer)^3, ((R + d) / nanometer)^3
    return ((1 - ratio) * core * amplitude(q * R) + ratio * whole * amplitude(q * (R + d)))^2
end, { nodes = 40 })
m.observe(I, { mean = background + scale * 1e-5 * mean })
