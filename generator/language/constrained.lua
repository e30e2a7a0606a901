-- constrained.lua -- parameters that are bound to each other: bounds that are formulas, values in order, parts of a
-- whole, correlated values of groups.
--
--   m.parameter("p", { start =, bounds = {a, b} })      where a or b is a formula
--   m.ordered("c", 3, { start = {1, 2, 3}, bounds = {0, 10} })       a list: c[1] < c[2] < c[3]
--   m.simplex("w", 3, { prior = {"dirichlet", 1, 1, 1} })            a list of positive numbers with the sum 1
--   m.correlated("z", { over = id, mean = {a, b}, sd = {s, t}, lkj = 2 })      a list: values of each group
--
-- Each is written in parameters that are free, whose bounds are numbers and whose priors are independent, so that least
-- squares, profiles and samplers need nothing new.  The free ones are chosen such that the density of what is meant is
-- the product of theirs, times a constant; no Jacobian is left over:
--
-- - p uniform between a and b, or a beta density scaled to them:  p = a + (b - a) u, u uniform or beta.
-- - n values uniform where lo < c1 < ... < cn < hi: of the n - k + 1 values above the one before, the least;
--   c_k = c_(k-1) + (hi - c_(k-1)) u_k,  u_k beta (1, n - k + 1)  (order statistics, David and Nagaraja 2003, section
--   2.5).
-- - without bounds: c_k = c_(k-1) + d_k, d_k > 0: a triangular map whose diagonal is 1.
-- - Dirichlet (a_1 .. a_n): w_k = (1 - w_1 - ... - w_(k-1)) u_k,  u_k beta (a_k, a_(k+1) + ... + a_n)
--   (Connor and Mosimann 1969).
-- - LKJ (eta) of a correlation matrix of n: its canonical partial correlations are independent, (1 + p_ij) / 2 beta
--   (b, b) with b = eta + (n - 1 - i) / 2  (Lewandowski, Kurowicka, Joe 2009, section 2).
--
-- What is meant is a derived quantity under its own name, with its error.

local parameter, start_of, derived = ... -- m.parameter, the value of a formula at all starts, m.derived
local of, pending = {}, {}
local floor_at, unit, sqrt, pairs, ipairs = floor_at, unit, sqrt, pairs, ipairs
local type, error, table, huge = type, error, table, math.huge

local function fail(text, ...) error(text:format(...), 0) end

-- The value has that name, from m.observe on.
local function named(name, value, doc)
    pending[#pending + 1] = { name, value, doc }
    return value
end

function of.observed()
    local list = pending
    pending = {}
    for _, d in ipairs(list) do derived(d[1], d[2], { doc = d[3] }) end
end

local function check(what, o, known)
    if type(o) ~= "table" then fail("%s: a table of options is missing", what) end
    for key in pairs(o) do
        local found = false
        for _, word in ipairs(known) do found = found or key == word end
        if not found then fail("%s has no option '%s'; known: %s", what, tostring(key), table.concat(known, " ")) end
    end
end

local function count(what, n)
    if type(n) ~= "number" or n % 1 ~= 0 or n < 2 or n > 64 then
        fail("%s: how many there are is a whole number from 2 to 64, no parameter", what)
    end
end

local function is_finite(b) return b ~= nil and b ~= huge and b ~= -huge end

-- A bound as a formula in the unit of what it bounds; nil: none.
local function bound(b, one)
    if type(b) == "number" then return is_finite(b) and b * one or nil end
    if b then local _ = b - one end -- another unit is told
    return b
end

-- Bounds and where they lie at the start.
local function bounds_of(what, o)
    local list = o.bounds or {}
    if type(list) ~= "table" then fail("%s: bounds must be a list of two", what) end
    local one = unit(o.unit or "1")
    local lo, hi = bound(list[1], one), bound(list[2], one)
    return lo, hi, lo and start_of(lo) or -huge, hi and start_of(hi) or huge
end

local function between(what, x, a, b)
    if type(x) ~= "number" then fail("%s: start must be a number", what) end
    if not (a < x and x < b) then
        fail("%s: start = %g is not inside of its bounds, %g and %g where all others are at their starts",
            what, x, a, b)
    end
end

local function prior_kind(o) return type(o.prior) == "table" and o.prior[1] or "none" end

local function allow(what, o, kinds, meaning)
    local kind = prior_kind(o)
    for _, word in ipairs(kinds) do
        if kind == word then return end
    end
    fail("the prior of '%s' is %s: none, or %s", what, meaning, table.concat(kinds, ", ", 2))
end

-- A free number between 0 and 1.
local function part(name, o, start, prior, doc)
    return parameter(name, { start = start, bounds = { 0, 1 }, prior = prior, linear = false, over = o.over,
        doc = doc })
end

-- A free distance, above 0.
local function distance(name, o, start, prior, doc)
    return parameter(name, { unit = o.unit, start = start, bounds = { 0, huge }, prior = prior, linear = false,
        over = o.over, doc = doc })
end

local positive = { "none", "half_normal", "half_cauchy", "exponential", "log_normal" }

function of.bounded(name, o)
    check("a parameter", o, { "unit", "start", "bounds", "prior", "doc", "over" })
    local lo, hi, a, b = bounds_of("'" .. name .. "'", o)
    between("'" .. name .. "'", o.start, a, b)
    if lo ~= nil and hi ~= nil then
        allow(name, o, { "none", "beta" }, "that of its place between its bounds, from 0 to 1")
        local u = part(name .. "_part", o, (o.start - a) / (b - a), o.prior or { "beta", 1, 1 },
            "place of " .. name .. " between its bounds")
        return named(name, lo + (hi - lo) * u, o.doc)
    end
    allow(name, o, positive, "that of its distance from its bound")
    if lo ~= nil then
        return named(name, lo + distance(name .. "_above", o, o.start - a, o.prior, name .. " above its bound"), o.doc)
    end
    return named(name, hi - distance(name .. "_below", o, b - o.start, o.prior, name .. " below its bound"), o.doc)
end

-- --- values in order

local function starts(what, o, n)
    if type(o.start) ~= "table" or #o.start ~= n then fail("%s: start is a list of %d numbers", what, n) end
    for k = 2, n do
        if not (o.start[k - 1] < o.start[k]) then fail("%s: the starts are not in order, the least first", what) end
    end
end

local function first_of(name, o, lo, a)
    if lo == nil then
        local p = parameter(name .. "1", { unit = o.unit, start = o.start[1], prior = o.prior, linear = false,
            over = o.over, doc = o.doc })
        return p
    end
    if prior_kind(o) ~= "none" then
        fail("'%s' has a bound: the prior of the first is that of its distance, gap", name)
    end
    local d = distance(name .. "1_above", o, o.start[1] - a, o.gap, name .. "1 above its bound")
    return named(name .. "1", lo + d, o.doc)
end

function of.ordered(name, n, o)
    local what = "'" .. tostring(name) .. "'"
    count(what, n)
    check("m.ordered", o, { "unit", "start", "bounds", "prior", "gap", "doc", "over" })
    starts(what, o, n)
    local lo, hi, a, b = bounds_of(what, o)
    between(what, o.start[1], a, b)
    between(what, o.start[n], a, b)
    local c = {}
    if hi == nil then
        c[1] = first_of(name, o, lo, a)
        for k = 2, n do
            local d = distance(name .. k .. "_above", o, o.start[k] - o.start[k - 1], o.gap,
                name .. k .. " above " .. name .. (k - 1))
            c[k] = named(name .. k, c[k - 1] + d, o.doc)
        end
        return c
    end
    if lo == nil then fail("%s: an upper bound needs a lower one", what) end
    if prior_kind(o) ~= "none" or o.gap then
        fail("%s: between two bounds all orders are alike; no prior is given", what)
    end
    local before, at = lo, a
    for k = 1, n do
        local u = part(name .. k .. "_part", o, (o.start[k] - at) / (b - at), { "beta", 1, n - k + 1 },
            "place of " .. name .. k .. " between " .. (k > 1 and name .. (k - 1) or "the lower bound") ..
            " and the upper bound")
        c[k] = named(name .. k, before + (hi - before) * u, o.doc)
        before, at = c[k], o.start[k]
    end
    return c
end

-- --- parts of a whole

local function concentrations(what, prior, n)
    local a = {}
    if prior ~= nil and (type(prior) ~= "table" or prior[1] ~= "dirichlet" or (#prior ~= n + 1 and #prior ~= 2)) then
        fail("%s: its prior is {\"dirichlet\", a} or one number for each part", what)
    end
    for k = 1, n do
        a[k] = prior and (prior[k + 1] or prior[2]) or 1
        if type(a[k]) ~= "number" or not (a[k] > 0) then fail("%s: the numbers of its prior must be positive", what) end
    end
    return a
end

function of.simplex(name, n, o)
    local what = "'" .. tostring(name) .. "'"
    count(what, n)
    o = o or {}
    check("m.simplex", o, { "start", "prior", "doc", "over" })
    local a, w, rest, left, sum = concentrations(what, o.prior, n), {}, 1, 1, 0
    for k = 1, n do sum = sum + a[k] end
    for k = 1, n - 1 do
        local start = o.start and o.start[k] or 1 / n
        if type(start) ~= "number" or not (0 < start and start < left) then
            fail("%s: the starts are positive numbers with the sum 1", what)
        end
        sum = sum - a[k]
        local u = part(name .. k .. "_part", o, start / left, { "beta", a[k], sum },
            "part of " .. name .. k .. " in what " ..
            (k > 1 and name .. "1 to " .. name .. (k - 1) .. " leave" or "is there"))
        w[k] = named(name .. k, rest * u, o.doc)
        rest, left = rest * (1 - u), left - start
    end
    w[n] = named(name .. n, rest, o.doc)
    return w
end

-- --- correlated values of groups

-- Rows of the Cholesky factor of the correlation matrix, from its canonical partial correlations.
local function cholesky(name, n, eta)
    local rows = { { 1 } }
    for j = 2, n do
        local row, left = {}, 1
        for i = 1, j - 1 do
            local b = eta + (n - 1 - i) / 2
            local p = parameter(name .. (i > 1 and "_partial" or "_cor") .. i .. j, { start = 0, bounds = { -1, 1 },
                prior = { "beta", b, b }, linear = false,
                doc = (i > 1 and "partial correlation" or "correlation") ..
                    " of " .. name .. i .. " and " .. name .. j })
            row[i] = left * p -- 1 - p^2 is floored: at p = 1 the slope of its root is infinite
            left = left * sqrt(floor_at((1 - p) * (1 + p), 1e-12))
        end
        row[j] = left
        rows[j] = row
        for i = 2, j - 1 do
            local r = 0
            for k = 1, i do r = r + row[k] * rows[i][k] end
            named(name .. "_cor" .. i .. j, r, "correlation of " .. name .. i .. " and " .. name .. j)
        end
    end
    return rows
end

function of.correlated(name, o)
    local what = "'" .. tostring(name) .. "'"
    check("m.correlated", o, { "over", "mean", "sd", "lkj", "doc" })
    if type(o.sd) ~= "table" or type(o.mean) ~= "table" or #o.sd ~= #o.mean then
        fail("%s: mean and sd are lists of the same length", what)
    end
    local n, eta = #o.sd, o.lkj or 1
    count(what, n)
    if type(eta) ~= "number" or not (eta > 0) then fail("%s: lkj must be a positive number, 1 for all alike", what) end
    if n > 9 then fail("%s: more than 9 correlated values", what) end
    if o.over == nil then fail("%s: over = the axis whose values have them", what) end
    local rows, z, effect = cholesky(name, n, eta), {}, {}
    for j = 1, n do
        z[j] = parameter(name .. j .. "_z", { start = 0, over = o.over, prior = { "normal", 0, 1 },
            doc = "standardised part of " .. name .. j })
        local sum = 0
        for k = 1, j do sum = sum + rows[j][k] * z[k] end
        effect[j] = named(name .. j, o.mean[j] + o.sd[j] * sum, o.doc)
    end
    return effect
end

return of
