-- complex.lua -- complex values of the model language.  What makes and finds them is dsl_complex.c.
--
--   complex(x, y)   x + i y, of two formulas of one unit; i is complex(0, 1)
--   re(z) im(z) conj(z) abs(z) arg(z)
--   + - * / ^  exp log sqrt sin cos tan sinh cosh tanh  where  convert
--
-- A complex value is a pair of real formulas, and every function of it is written as two real ones here: so the
-- compiler differentiates, judges and emits them as it does all others.  Cuts are the usual ones, arg in (-pi, pi]
-- (Kahan, Branch cuts for complex elementary functions, 1987).
--
-- What is put into `of` is what an operator or a function does when one of its arguments is complex.

local of = ... -- the metatable of complex values
local complex = complex
local exp, log, sin, cos, sinh, cosh, abs, atan2 = exp, log, sin, cos, sinh, cosh, abs, atan2
local where, convert, lt, rawget, pi = where, convert, lt, rawget, pi

local function is_complex(z) return type(z) == "table" end

function re(z) return is_complex(z) and z.re or z end
function im(z) return is_complex(z) and z.im or 0 end
function conj(z) return is_complex(z) and complex(z.re, -z.im) or z end
function arg(z) return atan2(im(z), re(z)) end
local re, im, arg = re, im, arg

-- abs(z)^2
local function square(z) return z.re ^ 2 + z.im ^ 2 end

-- r exp(i angle).  What it was made of is kept: its size is r then, and to divide by it takes no sum of squares.
local function polar(r, angle)
    local z = complex(r * cos(angle), r * sin(angle))
    z.polar = { r = r, angle = angle }
    return z
end

local function sign(x) return where(lt(x, 0), -1, 1) end

function of.__add(a, b) return complex(re(a) + re(b), im(a) + im(b)) end
function of.__sub(a, b) return complex(re(a) - re(b), im(a) - im(b)) end
function of.__unm(a) return complex(-a.re, -a.im) end

function of.__mul(a, b)
    if not is_complex(a) then return complex(a * b.re, a * b.im) end
    if not is_complex(b) then return complex(a.re * b, a.im * b) end
    return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
end

function of.__div(a, b)
    if not is_complex(b) then return complex(a.re / b, a.im / b) end
    local p = rawget(b, "polar")
    if p then return a * polar(1 / p.r, -p.angle) end
    local n = square(b)
    if not is_complex(a) then return complex(a * b.re / n, -(a * b.im / n)) end
    return complex((a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n)
end

-- Whole powers are products: exact on the axes, and without a cut.  Of the others the principal value,
-- |z|^p exp(i p arg z).  On the imaginary axis the angle is known:
-- (i y)^p = |y|^p (cos(p pi/2) + i sign(y) sin(p pi/2)).
local MOST_FACTORS = 8

function of.__pow(a, p)
    if is_complex(p) then return exp(p * log(a)) end
    if type(p) == "number" and p == math.floor(p) and abs(p) <= MOST_FACTORS then
        local product = complex(1, 0)
        for _ = 1, abs(p) do product = product * a end
        return p < 0 and 1 / product or product
    end
    if rawget(a, "re") == 0 then
        local r = abs(a.im) ^ p
        return complex(r * cos(p * pi / 2), sign(a.im) * r * sin(p * pi / 2))
    end
    return polar(square(a) ^ (p / 2), p * arg(a))
end

function of.abs(z)
    local p = rawget(z, "polar")
    return p and abs(p.r) or square(z) ^ 0.5
end

function of.exp(z) return polar(exp(z.re), z.im) end
function of.log(z) return complex(log(square(z)) / 2, arg(z)) end
function of.sinh(z) return complex(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)) end
function of.cosh(z) return complex(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)) end
function of.sin(z) return complex(sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im)) end
function of.cos(z) return complex(cos(z.re) * cosh(z.im), -(sin(z.re) * sinh(z.im))) end

-- By decaying exponentials, so that nothing overflows:
-- tanh(x + i y) = (sign(x) (1 - e^(-4|x|)) + 2 i e^(-2|x|) sin 2y) / (1 + e^(-4|x|) + 2 e^(-2|x|) cos 2y).
function of.tanh(z)
    local x, y = z.re, z.im
    local e = exp(-2 * abs(x))
    local n = 1 + e ^ 2 + 2 * e * cos(2 * y)
    return complex(sign(x) * (1 - e ^ 2) / n, 2 * e * sin(2 * y) / n)
end

-- tan z = -i tanh(i z)
function of.tan(z)
    local h = of.tanh(complex(-z.im, z.re))
    return complex(h.im, -h.re)
end

function of.where(c, a, b) return complex(where(c, re(a), re(b)), where(c, im(a), im(b))) end
function of.convert(z, unit) return complex(convert(z.re, unit), convert(z.im, unit)) end

function of.__index(_, key)
    error("a complex value has no field '" .. tostring(key) .. "'; its parts are re(z) and im(z)", 0)
end

function of.__tostring(z) return "complex(" .. tostring(z.re) .. ", " .. tostring(z.im) .. ")" end

local function no_order() error("complex values have no order; compare abs(z), re(z) or im(z)", 0) end
of.__lt, of.__le, of.__len = no_order, no_order, nil

i = complex(0, 1)
_ENV.rawget = nil
