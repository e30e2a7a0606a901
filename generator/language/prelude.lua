-- prelude.lua -- the part of the model language that is written in itself.  Its globals are names that
-- a model file can use.
--
-- A model file in short (docs/models.md is the guide, models/laminar.lua a complete one):
--
--   local m = model "name" { title = "...", formula = "...", reference = "...", validity = "..." }
--       package = "homodyne", mode = "laminar_flow": the Python package that has the model, and its name there
--   local t = m.grid("t", "s")                    times of the frames; t.step is the frame period;
--       { first = 1 } as the third argument: the first frame of a window lies at t.step, not at 0
--   local phi = m.axis("phi", "deg", "doc")       one coordinate per measured matrix; or {unit=, doc=, range=}
--   local x, y, s = m.columns("x:s", "y", "s")    instead of a grid: columns of a table;
--       {"x", unit = "s", doc = "...", range = {0, 10}}: where x lies, for the judgement of rounding errors
--   local q = m.axis("q", "1/angstrom", "doc")    of a table: one more column; rows with the same q are a
--                                                 group, with parameters of its own (over = q)
--   local q = m.setting("q", "1/angstrom", "doc") known at run time; or {unit=, doc=, default=}
--   local p = m.parameter("p", { unit = "1", start = 1, bounds = {0, 2}, doc = "...",
--       prior = {"normal", 1, 0.5}, alias = {"P"}, over = phi, linear = true })
--       bounds = {a, b} may be formulas of parameters and settings (constrained.lua), as may those of
--   local c = m.ordered("c", 3, { start = {1, 2, 3}, bounds = {0, 10} })     a list: c[1] < c[2] < c[3]
--   local w = m.simplex("w", 3, { prior = {"dirichlet", 1, 1, 1} })          a list: positive, with the sum 1
--   local z = m.correlated("z", { over = id, mean = {a, b}, sd = {s, t}, lkj = 2 })   a list: values of each group
--   local e = m.state("e", { unit=, before = 0 })  of a table: carried from row to row
--   m.step(e, y - mean)                           its value in a row, from previous(e), columns, other states
--   previous(e)  previous(y, mu)                  the value in the row before; of any formula, with what it is in the
--                                                 first
--   m.ode(t, { from = 0, [u] = rate, [v] = rate })  states of a differential equation, at the times of the column t
--   m.event(when, { [u] = dose })                 what is added to its states at a time, at times {1, 2, 3}, or in
--                                                 every row, m.event(t, { [u] = dose }) with a column `dose`
--   local t1, t2 = pair(t)                        two frames
--   integral(f, t1, t2)  at(f, t1)                of f, a function of t
--   sum(1, 20, function(k) return ... end)        kept as a loop, as are these; two may be nested
--   integrate(a, b, function(x) return ... end, { nodes = 20 })    rule = "gauss" or "double_exponential", scale =
--   average({ "log_normal", median = R, sd = 0.2 }, function(r) return ... end, { nodes = 20 })
--       also normal, schulz { mean, sd }, uniform { from, to }
--   m.observe("c2", { over = {phi, t1, t2}, mean = ..., linear = {p} })
--   m.observe(y, { mean = ..., sigma = s })       tables; noise = {"half_cauchy", 2}: prior of the noise level
--   m.observe(y, { mean = ..., noise = poisson() })   tables: another noise distribution, see below
--   m.observe(y, { mean = ..., log_density = f })     any law: f is the logarithm of the density of y
--   m.variant("parity", { mean = ... })           another formula for the same data
--   m.curve("D", D, "doc")                        drawn with the fit
--   m.derived("half_life", math.log(2) / rate, { doc = "..." })   a number that follows from parameters, with its error
--   m.random(function(u) return { p = u(0, 2) } end)    sensible sets; u(a, b) is uniform
--   m.test { p = 1, q = 0.01, phi = 0, dt = 0.1, t1 = 0.1, t2 = 0.7, c2 = 1.23 }
--
-- Statistics of a column, when data are loaded: column_mean(x) column_sd(x) standardised(x).
-- Functions: exp log expm1 log1p sin cos tan sinc asin acos atan sinh cosh tanh asinh erf erfc softplus
-- logistic gamma lgamma digamma exprel log1mexp erfcx erfinv erfi bessel_j(n, x) bessel_y bessel_i bessel_k
-- spherical_j(n, x) spherical_y spherical_i spherical_k legendre(n, x) gamma_p(a, x) gamma_q gamma_density 
-- beta_p(a, b, x) beta_q mittag_leffler(alpha, z)
-- voigt(x, sigma, gamma) exgauss(x, sigma, tau) faddeeva(z) dawson abs atan2, where(lt(a, b), x, y) with lt le gt ge,
-- and those below.  sinc x = sin x / x.
-- sin, cos, tan and sinc take degrees as well, by the unit of their argument.
-- Complex values: complex(x, y), i, re im abs arg conj (complex.lua).
-- Units: every expression has one; + - and comparisons need equal units; exp, log, ... need none.
-- second, angstrom, deg, ... are units as factors, unit "angstrom^2/s" is any; t / second is a number;
-- words of your own are declared: model "name" { units = {"cell"} };
-- convert(x, "nm") changes the unit.
-- Rounding: expressions are rewritten where that is proved better (expm1, log1p, sinc, ...); a model whose mean
-- is wrong by more than 64 ulp somewhere within bounds, random() and ranges, or not a number there, is refused.
-- model "name" { accuracy = 1000 } allows more, math.huge anything; --check and --explain tell.
-- Laws: gaussian { sd = }  student_t { scale =, nu = }  cauchy { scale = }  laplace { scale = }
--   lognormal { sd = }, of log y; the mean is the median          exponential()     gamma { shape = }
--   poisson()  negative_binomial { modes = }  binomial { trials =, logit = }; with logit there is no mean to give
-- Their arguments are expressions: columns, parameters, functions of both.  Then no parameter is linear, any may have
-- `over`, and a prior may have parameters: over = q, prior = normal(mu, tau) is a level of a hierarchy.
-- A parameter is linear when it says so, or observe does; when nobody does, the compiler finds out.

pi = math.pi

function gt(a, b) return lt(b, a) end
function ge(a, b) return le(b, a) end

function sqrt(x) return x ^ 0.5 end
function log10(x) return log(x) / math.log(10) end

-- log(exp(a) + exp(b) + ...), and the log density of a mixture: log(w exp(a) + (1 - w) exp(b)) for 0 < w < 1.  Nothing
-- overflows, and no derivative is 0/0: that of softplus is logistic.
function log_sum_exp(a, ...)
    for _, b in ipairs({ ... }) do a = a + softplus(b - a) end
    return a
end
function log_mix(w, a, b) return log_sum_exp(log(w) + a, log1p(-w) + b) end

-- x, but not below lo: the derivative is 0 below and 1 above.  A NaN stays a NaN.
function floor_at(x, lo) return where(le(x, lo), lo, x) end

-- x, but not above hi.
function cap_at(x, hi) return where(le(hi, x), hi, x) end

-- w(z) = exp(-z^2) erfc(-i z), and what it is made for: a Lorentzian of half width gamma behind a Gaussian of standard
-- deviation sigma, of area 1; Dawson's integral, exp(-x^2) times the integral of exp(s^2) from 0 to x.
local w_re, w_im = faddeeva_re, faddeeva_im

function faddeeva(z) return complex(w_re(0, re(z), im(z)), w_im(0, re(z), im(z))) end

function voigt(x, sigma, gamma)
    return w_re(0, x / (math.sqrt(2) * sigma), gamma / (math.sqrt(2) * sigma)) / (sqrt(2 * pi) * sigma)
end

function dawson(x) return 0.5 * math.sqrt(pi) * w_im(0, x, 0) end

-- E(z) = sum over k of z^k/Gamma(alpha k + beta), of z <= 0 and 0 < alpha <= 1: its inverse Laplace transform along a
-- parabola about the cut s <= 0 (Weideman and Trefethen, Math. Comp. 76 (2007) 1341),
--     E(-x) = 1/(2 pi i) times the integral of exp(s) s^(alpha - beta)/(s^alpha + x) ds,   s = c (1 + i u)^2,
-- by the midpoint rule; c and the step h are such that neither truncation nor rounding leaves more than 1e-15.
function mittag_leffler(alpha, z, beta)
    local c, h, nodes = 1.8, 0.165, 28
    if type(alpha) == "number" and not (alpha > 0 and alpha <= 1) then
        error("the first argument of mittag_leffler lies above 0 and is at most 1, " .. alpha .. " does not; " ..
              "exp(z) is mittag_leffler(1, z)", 0)
    end
    beta = beta or 1
    local total = sum(0, nodes - 1, function(k)
        local u = (k + 0.5) * h
        local angle, size = atan(u), c * (1 + u^2)                       -- s = size exp(2 i angle)
        local weight = 2 * c * h / math.pi * exp(c * (1 - u^2)) * sqrt(1 + u^2) * size^(alpha - beta)
        local phase = 2 * c * u + (1 + 2 * (alpha - beta)) * angle
        local power, turn = size^alpha, 2 * alpha * angle
        local x, y = power * cos(turn) - z, power * sin(turn)
        return weight * (x * cos(phase) + y * sin(phase)) / (x^2 + y^2)
    end)
    if type(alpha) ~= "number" then total = where(le(alpha, 1), total, sqrt(1 - alpha)) end
    if type(z) == "number" then
        if z > 0 then error("mittag_leffler(alpha, z) is that of z <= 0; z is " .. z, 0) end
        return total
    end
    return where(le(z, 0), total, sqrt(-z))              -- above 0 there is no number
end

-- An exponential decay of lifetime tau behind a Gaussian of standard deviation sigma, of area 1.
function exgauss(x, sigma, tau)
    local u, ratio = x / sigma, sigma / tau
    local z = (ratio - u) / math.sqrt(2)
    local near = erfcx(floor_at(z, -5)) * exp(-u^2 / 2)
    local far = exp(cap_at(ratio^2 / 2 - x / tau, 0)) * erfc(cap_at(z, -5))
    return where(gt(z, -5), near, far) / (2 * tau)
end

-- Incomplete gamma functions, regularised: P(a, x) from 0 to x, Q = 1 - P; their density, x^(a - 1) exp(-x)/Gamma(a).
local function of_shape(name, f)
    return function(a, x)
        if type(a) == "number" and not (a >= 0.1 and a <= 1000) then
            error("the first argument of " .. name .. " is its shape, from 0.1 to 1000; " .. a .. " is not", 0)
        end
        return f(0, a, x)
    end
end

gamma_p, gamma_q = of_shape("gamma_p", gamma_p), of_shape("gamma_q", gamma_q)
gamma_density = of_shape("gamma_density", gamma_density)

-- Incomplete beta functions, regularised, of shapes from 0.1 to 50: the integral of t^(a - 1) (1 - t)^(b - 1) over t
-- from 0 to x, over that to 1, t = x/(1 + exp(-pi sinh u)) with midpoints in u (Takahasi and Mori 1974).
local function check_shape(a)
    if type(a) == "number" and not (a >= 0.1 and a <= 50) then
        error("a shape of beta_p and beta_q lies within 0.1 and 50; " .. a .. " does not", 0)
    end
end

local function beta_integral(a, b, x)                                    -- without the factor x^a
    local h, most = 0.05, 112
    return sum(0, 2 * most - 1, function(k)
        local u = (k + 0.5 - most) * h
        local g = math.pi * sinh(u)
        local rest = logistic(-g)                                        -- 1 - t/x
        local below = x == 1 and rest or 1 - x + x * rest                -- 1 - t
        return cosh(u) * rest * exp(-a * softplus(-g)) * below^(b - 1)
    end)
end

function beta_p(a, b, x)
    check_shape(a)
    check_shape(b)
    local inside = clamp(x, 0, 1)
    return inside^a * (beta_integral(a, b, inside) / beta_integral(a, b, 1))
end

function beta_q(a, b, x) return beta_p(b, a, 1 - x) end                  -- 1 - beta_p(a, b, x)

-- Legendre's polynomial of degree n, by Bonnet's recurrence.
function legendre(n, x)
    if type(n) ~= "number" or n < 0 or n % 1 ~= 0 or n > 30 then
        error("the first argument of legendre is its degree: a whole number from 0 to 30, no parameter; legendre(2, x)",
            0)
    end
    local before, now = 1, x
    if n == 0 then return 1 end
    for k = 2, n do before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k end
    return now
end

-- A column less its mean, over its standard deviation, both of all rows when they are loaded.
function standardised(x) return (x - column_mean(x)) / column_sd(x) end

function clamp(x, lo, hi) return cap_at(floor_at(x, lo), hi) end

-- pairs() in the order of the keys, so that the same file always gives the same model.
local next, type = next, type

local function before(a, b)
    local s, r = type(a), type(b)
    if s ~= r then return s < r end
    return (s == "number" or s == "string") and a < b
end

function pairs(list)
    if type(list) ~= "table" then
        error("pairs goes through a list of the model, { a, b }; a formula is none, and rows and frames are not " ..
            "gone through", 0)
    end
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

-- Laws of the errors.  m.observe reads: law, support (of y), arguments { {name, value}, ... }, and
-- log_density(y, mean, one) with y and mean in the unit `one`.

-- What else a name may have been meant for.
local instead = {
    exponential = "; the function is exp(x)",
    gaussian = "; a Gaussian curve is exp(-0.5 * ((x - x0) / width)^2)",
    cauchy = "; a Lorentzian curve is 1 / (1 + ((x - x0) / width)^2)",
}

local function options(law, o, known)
    if o ~= nil and type(o) ~= "table" then
        local usage = law .. "()"
        if known[1] then usage = law .. " { " .. table.concat(known, " = ..., ") .. " = ... }" end
        error("'" .. law .. "' is a noise distribution, noise = " .. usage .. ", not a function" ..
              (instead[law] or ""), 0)
    end
    for key in pairs(o or {}) do
        local found = false
        for _, name in ipairs(known) do found = found or key == name end
        if not found then
            error(law .. " has no option '" .. tostring(key) .. "'; known: " .. table.concat(known, " "), 0)
        end
    end
    return o or {}
end

local function needed(law, o, name)
    if o[name] == nil then error(law .. " needs " .. name .. ": " .. law .. " { " .. name .. " = ... }", 0) end
    return o[name]
end

local function bare(x, one) return one == 1 and x or x / one end

local log_root_2pi = 0.5 * math.log(2 * pi)

function gaussian(o)
    local sd = options("gaussian", o, { "sd" }).sd
    if sd == nil then return nil end -- what observe does by itself, with a level integrated out
    return { law = "gaussian", support = "real", arguments = { { "sd", sd } },
        log_density = function(y, mean, one)
            return -0.5 * ((y - mean) / sd) ^ 2 - log(bare(sd, one)) - log_root_2pi
        end }
end

function student_t(o)
    o = options("student_t", o, { "scale", "nu" })
    local s, nu = needed("student_t", o, "scale"), needed("student_t", o, "nu")
    return { law = "student_t", support = "real", arguments = { { "scale", s }, { "nu", nu } },
        log_density = function(y, mean, one)
            return -0.5 * (nu + 1) * log1p(((y - mean) / s) ^ 2 / nu) - log(bare(s, one)) - 0.5 * log(pi * nu)
                + lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu)
        end }
end

function cauchy(o)
    local s = needed("cauchy", options("cauchy", o, { "scale" }), "scale")
    return { law = "student_t", support = "real", arguments = { { "scale", s }, { "nu", 1 } },
        log_density = function(y, mean, one)
            return -log1p(((y - mean) / s) ^ 2) - log(bare(s, one)) - math.log(pi)
        end }
end

function laplace(o)
    local s = needed("laplace", options("laplace", o, { "scale" }), "scale")
    return { law = "laplace", support = "real", arguments = { { "scale", s } },
        log_density = function(y, mean, one)
            return -abs(y - mean) / s - log(bare(s, one)) - math.log(2)
        end }
end

function lognormal(o)
    local sd = needed("lognormal", options("lognormal", o, { "sd" }), "sd")
    return { law = "lognormal", support = "positive", arguments = { { "sd", sd } },
        log_density = function(y, mean, one)
            local log_y = log(bare(y, one))
            return -0.5 * ((log_y - log(bare(mean, one))) / sd) ^ 2 - log(sd) - log_y - log_root_2pi
        end }
end

function exponential(o)
    options("exponential", o, {})
    return { law = "exponential", support = "nonnegative", arguments = {},
        log_density = function(y, mean, one) return -y / mean - log(bare(mean, one)) end }
end

local gamma_function = gamma

function gamma(o)
    if o ~= nil and type(o) ~= "table" then return gamma_function(o) end
    local a = needed("gamma", options("gamma", o, { "shape" }), "shape")
    return { law = "gamma", support = "positive", arguments = { { "shape", a } },
        log_density = function(y, mean, one)
            local log_y = log(bare(y, one))
            return a * (log_y - log(bare(mean, one)) - y / mean) + a * log(a) - lgamma(a) - log_y
        end }
end

function poisson(o)
    options("poisson", o, {})
    return { law = "poisson", support = "counts", arguments = {},
        log_density = function(y, mean, one)
            local n, mu = bare(y, one), bare(mean, one)
            return n * log(mu) - mu - lgamma(n + 1)
        end }
end

function negative_binomial(o)
    local M = needed("negative_binomial", options("negative_binomial", o, { "modes" }), "modes")
    return { law = "negative_binomial", support = "counts", arguments = { { "modes", M } },
        log_density = function(y, mean, one)
            local n, mu = bare(y, one), bare(mean, one)
            return n * (log(mu) - log(mu + M)) - M * log1p(mu / M) + lgamma(n + M) - lgamma(M) - lgamma(n + 1)
        end }
end

function binomial(o)
    o = options("binomial", o, { "trials", "logit" })
    local trials, logit = needed("binomial", o, "trials"), o.logit
    return { law = "binomial", support = "trials", arguments = { { "trials", trials } },
        mean = logit and trials * logistic(logit),
        log_density = function(y, mean, one)
            local n, N = bare(y, one), bare(trials, one)
            local ways = lgamma(N + 1) - lgamma(n + 1) - lgamma(N - n + 1)
            if logit then return n * logit - N * softplus(logit) + ways end
            return n * log(mean / trials) + (N - n) * log1p(-mean / trials) + ways
        end }
end

-- Priors as functions; their arguments may be parameters.
function normal(mean, sd) return { "normal", mean, sd } end
function log_normal(mean, sd) return { "log_normal", mean, sd } end

_ENV.next, _ENV.faddeeva_re, _ENV.faddeeva_im = nil, nil, nil
