return function(value_gradient, x)
    local f, g = value_gradient(x)
    for k = 1, #x do x[k] = x[k] - g[k] end
    return x
end
