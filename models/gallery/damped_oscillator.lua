local m = model "damped_oscillator" {
    title = "Free motion of a damped oscillator, from ringing through critical damping to creep",
    formula = [[
x'' + 2 gamma x' + omega0^2 x = 0
x = exp(-gamma t) (x0 C(z) + (v0 + gamma x0) t S(z)),   z = (omega0^2 - gamma^2) t^2
C = cos sqrt z,  S = sin(sqrt z)/sqrt z;   z < 0: cosh sqrt -z,  sinh(sqrt -z)/sqrt -z]],
    reference = "L. D. Landau and E. M. Lifshitz, Mechanics (1960), section 25",
    validity = [[
Linear friction.  C and S are smooth through z = 0, so a fit may pass critical damping; formulas with the frequency
sqrt(omega0^2 - gamma^2) break there.]],
}

local t, x, s = m.columns({ "t", unit = "s", range = {0, 20} }, { "x", unit = "mm" }, { "s", unit = "mm" })
local omega0 = m.parameter("omega0", { unit = "1/s", start = 1, bounds = {0.05, 10},
    doc = "angular frequency without friction" })
local gamma  = m.parameter("gamma", { unit = "1/s", start = 0.5, bounds = {0, 10}, doc = "friction / (2 mass)" })
local x0 = m.parameter("x0", { unit = "mm", start = 1 })
local v0 = m.parameter("v0", { unit = "mm/s", start = 0 })

-- C and S: trigonometric above z = 1, hyperbolic below -1, between them the power series of both.
local function series(z, first)                         -- sum of (-z)^k / (2 k + first)!
    local sum = 1
    for k = 10, 1, -1 do sum = 1 - z / ((2 * k + first) * (2 * k + first - 1)) * sum end
    return sum
end
local z = (omega0^2 - gamma^2) * t^2
local up, down = sqrt(floor_at(z, 0.5)), sqrt(floor_at(-z, 0.5))
local near = lt(abs(z), 1)
local decay = exp(-gamma * t)
-- exp(-gamma t) cosh and sinh by the slow and the fast exponential: neither overflows
local slow = exp(-omega0^2 * t^2 / (gamma * t + down)) -- gamma t - sqrt(-z) = omega0^2 t^2/(gamma t + sqrt(-z))
local fast = exp(-(gamma * t + down))
local C = where(near, decay * series(z, 0), where(lt(z, 0), (slow + fast) / 2, decay * cos(up)))
local S = where(near, decay * series(z, 1), where(lt(z, 0), (slow - fast) / (2 * down), decay * sinc(up)))

m.observe(x, { mean = x0 * C + (v0 + gamma * x0) * t * S, sigma = s })

m.derived("Q", omega0 / (2 * gamma), { doc = "quality factor; 1/2 at critical damping" })
m.random(function(u) return { omega0 = u(0.3, 3), gamma = u(0.05, 3) } end)

-- mpmath, 40 digits, by complex frequencies: ringing, critical, next to critical, creeping
local function point(omega0, gamma, t, x)
    m.test { t = t, omega0 = omega0, gamma = gamma, x0 = 2, v0 = -1, x = x }
end
point(2, 0.25, 3, 0.932279386519110673)
point(1, 1, 2, 0.541341132946450768)
point(1, 1.0001, 2, 0.541431350694667401)
point(1, 3, 5, 0.798892367718251734)
point(0.5, 9, 20, 1.47363903581734507)
