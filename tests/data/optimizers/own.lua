-- Optimizers as a user writes them: two functions and a table.

-- Steepest descent; the step is halved until the value falls, then grows.
function descend(value_gradient, x, options)
    local f, g = value_gradient(x)
    local step = options.learning_rate
    for _ = 1, options.maxiter do
        local largest = 0
        for k = 1, #g do largest = math.max(largest, math.abs(g[k])) end
        if largest <= options.gtol then return x, true end
        local trial, ft, gt
        repeat
            trial = {}
            for k = 1, #x do trial[k] = x[k] - step * g[k] end
            ft, gt = value_gradient(trial)
            if ft >= f then step = step / 2 end
        until ft < f or step < 1e-30
        if step < 1e-30 then return x, false end
        x, f, g, step = trial, ft, gt, 1.5 * step
        if options.iteration(x, f, g) then return x, false end
    end
    return x, false
end

function broken(value_gradient, x) return value_gradient({1}) end
function forgetful() return "nothing" end
number = 3

-- Heavy ball (Polyak 1964).
return {
    ball = {
        init = function(x)
            local v = {}
            for k = 1, #x do v[k] = 0 end
            return v
        end,
        update = function(g, v, x, f)
            local step = {}
            for k = 1, #g do
                v[k] = 0.9 * v[k] - 1e-3 * g[k]
                step[k] = v[k]
            end
            return step, v
        end,
    },
}
