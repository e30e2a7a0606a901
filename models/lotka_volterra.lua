local m = model "lotka_volterra" {
    title = "Predators and prey, each counted with its relative error",
    formula = "du/dt = (a - b v) u,   dv/dt = (-c + d u) v;   ln of what is counted is normal about ln u and ln v",
    reference = [[
A. J. Lotka, Elements of Physical Biology (1925); V. Volterra, Nature 118 (1926) 558;
posteriordb hudson_lynx_hare-lotka_volterra (priors and data)]],
    validity = "Nothing limits the prey but the predators; both are counted in thousands.",
    units = {"year"},
}

local t, kind, pelts = m.columns({ "t", unit = "year", range = {0, 20}, doc = "since the first count" },
    { "kind", range = {0, 1}, doc = "0: prey, 1: predators" }, { "pelts", range = {1, 100}, doc = "thousands" })
local a = m.parameter("a", { unit = "1/year", start = 0.6, bounds = {0, 10}, prior = {"truncated_normal", 1, 0.5} })
local b = m.parameter("b", { unit = "1/year", start = 0.03, bounds = {0, 1}, prior = {"truncated_normal", 0.05, 0.05} })
local c = m.parameter("c", { unit = "1/year", start = 0.8, bounds = {0, 10}, prior = {"truncated_normal", 1, 0.5} })
local d = m.parameter("d", { unit = "1/year", start = 0.03, bounds = {0, 1}, prior = {"truncated_normal", 0.05, 0.05} })
local u0 = m.parameter("u0", { start = 30, bounds = {1e-3, 1e4}, prior = log_normal(math.log(10), 1) })
local v0 = m.parameter("v0", { start = 5, bounds = {1e-3, 1e4}, prior = log_normal(math.log(10), 1) })
local su = m.parameter("su", { start = 0.3, bounds = {1e-3, 10}, prior = log_normal(-1, 1),
    doc = "relative error of prey" })
local sv = m.parameter("sv", { start = 0.3, bounds = {1e-3, 10}, prior = log_normal(-1, 1), doc = "of predators" })

local u = m.state("u", { before = u0, doc = "prey" })
local v = m.state("v", { before = v0, doc = "predators" })
m.ode(t, { [u] = (a - b * v) * u, [v] = (d * u - c) * v })

local prey = lt(kind, 0.5)
m.observe(pelts, { mean = where(prey, u, v), noise = lognormal { sd = where(prey, su, sv) } })

m.random(function(r)
    return { a = r(0.4, 0.8), b = r(0.02, 0.04), c = r(0.6, 1.1), d = r(0.02, 0.035), u0 = r(20, 40), v0 = r(4, 9),
             su = r(0.2, 0.4), sv = r(0.2, 0.4) }
end)
-- Taylor series of 30 digits
m.test { a = 0.55, b = 0.028, c = 0.8, d = 0.024, u0 = 34, v0 = 6, su = 0.25, sv = 0.25, t = {1, 5, 20}, kind = 0,
         pelts = {49.246848884989381, 18.944854071011933, 30.601937594637607}, tolerance = 1e-11 }
m.test { a = 0.55, b = 0.028, c = 0.8, d = 0.024, u0 = 34, v0 = 6, su = 0.25, sv = 0.25, t = {1, 5, 20}, kind = 1,
         pelts = {7.2594825891551843, 38.924527230972747, 6.0423755995973012}, tolerance = 1e-11 }
