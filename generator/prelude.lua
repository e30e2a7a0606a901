-- prelude.lua -- the part of the model language that is written in itself.  Its globals are names that
-- a model file can use.
--
-- A model file in short (docs/models.md is the guide, models/laminar.lua a complete one):
--
--   local m = model "name" { title = "...", formula = "...", reference = "...", validity = "..." }
--   local t = m.grid("t", "s")                    times of the frames; t.step is the frame period
--   local phi = m.axis("phi", "deg", "doc")       one coordinate per measured matrix
--   local x, y, s = m.columns("x:s", "y", "s")    instead of a grid: columns of a table;
--       {"x", unit = "s", doc = "...", range = {0, 10}}: where x lies, for the judgement of rounding errors
--   local q = m.axis("q", "1/angstrom", "doc")    of a table: one more column; rows with the same q are a
--                                                 group, with parameters of its own (over = q)
--   local q = m.setting("q", "1/angstrom", "doc") known at run time; or {unit=, doc=, default=}
--   local p = m.parameter("p", { unit = "1", start = 1, bounds = {0, 2}, doc = "...",
--       prior = {"normal", 1, 0.5}, alias = {"P"}, over = phi, linear = true })
--   local t1, t2 = pair(t)                        two frames
--   integral(f, t1, t2)  at(f, t1)                of f, a function of t
--   m.observe("c2", { over = {phi, t1, t2}, mean = ..., linear = {p} })
--   m.observe(y, { mean = ..., sigma = s })       tables; noise = {"half_cauchy", 2}: prior of the noise level
--   m.variant("parity", { mean = ... })           another formula for the same data
--   m.curve("D", D, "doc")                        drawn with the fit
--   m.random(function(u) return { p = u(0, 2) } end)    sensible sets; u(a, b) is uniform
--   m.test { p = 1, q = 0.01, phi = 0, dt = 0.1, t1 = 0.1, t2 = 0.7, c2 = 1.23 }
--
-- Functions: exp log expm1 log1p sin cos tan sinc asin acos atan sinh cosh tanh erf erfc softplus
-- logistic abs atan2, where(lt(a, b), x, y) with lt le gt ge, and those below.  sinc x = sin x / x.
-- sin, cos, tan and sinc take degrees as well, by the unit of their argument.
-- Units: every expression has one; + - and comparisons need equal units; exp, log, ... need none.
-- second, angstrom, deg, ... are units as factors, unit "angstrom^2/s" is any; t / second is a number;
-- words of your own are declared: model "name" { units = {"cell"} };
-- convert(x, "nm") changes the unit.
-- Rounding: expressions are rewritten where that is proved better (expm1, log1p, sinc, ...); a model whose mean
-- is wrong by more than 64 ulp somewhere within bounds, random() and ranges, or not a number there, is refused.
-- model "name" { accuracy = 1000 } allows more, math.huge anything; --check and --explain tell.
-- A parameter is linear when it says so, or observe does; when nobody does, the compiler finds out.

pi = math.pi

function gt(a, b) return lt(b, a) end
function ge(a, b) return le(b, a) end

function sqrt(x) return x ^ 0.5 end
function log10(x) return log(x) / math.log(10) end

-- x, but not below lo: the derivative is 0 below and 1 above.  A NaN stays a NaN.
function floor_at(x, lo) return where(le(x, lo), lo, x) end

-- x, but not above hi.
function cap_at(x, hi) return where(le(hi, x), hi, x) end

function clamp(x, lo, hi) return cap_at(floor_at(x, lo), hi) end

-- pairs() in the order of the keys, so that the same file always gives the same model.
local next, type = next, type

local function before(a, b)
    local s, r = type(a), type(b)
    if s ~= r then return s < r end
    return (s == "number" or s == "string") and a < b
end

function pairs(list)
    local keys, n = {}, 0
    for key in next, list do
        local k = n -- insertion sort: its work counts as instructions
        while k > 0 and before(key, keys[k]) do
            keys[k + 1] = keys[k]
            k = k - 1
        end
        keys[k + 1] = key
        n = n + 1
    end
    local k = 0
    return function()
        k = k + 1
        return keys[k], list[keys[k]]
    end
end

_ENV.next = nil
