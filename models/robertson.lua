local m = model "robertson" {
    title = "Three reactions whose rates differ by nine orders of magnitude",
    formula = "A -> B at k1,  2 B -> B + C at k2,  B + C -> A + C at k3;  A and 10^4 B are measured",
    reference = [[
H. H. Robertson in: J. Walsh (ed.), Numerical Analysis, an Introduction (1966) 178;
E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), section IV.10]],
    validity = "Well stirred, in units of the initial concentration of A.",
}

local t, a, sa, b, sb = m.columns({ "t", unit = "s", range = {0.01, 1e5} }, { "a", range = {0, 1} }, "sa",
    { "b", range = {0, 0.4}, doc = "ten thousand times what there is of B" }, "sb")
local k1 = m.parameter("k1", { unit = "1/s", start = 0.04, bounds = {1e-4, 10}, doc = "A -> B" })
local k2 = m.parameter("k2", { unit = "1/s", start = 3e7, bounds = {1e5, 1e9}, doc = "2 B -> B + C" })
local k3 = m.parameter("k3", { unit = "1/s", start = 1e4, bounds = {100, 1e6}, doc = "B + C -> A + C" })

local A = m.state("A", { before = 1 })
local B = m.state("B", { before = 0 })
local C = m.state("C", { before = 0 })
local first, second, third = k1 * A, k2 * B^2, k3 * B * C
m.ode(t, { [A] = third - first, [B] = first - second - third, [C] = second, stiff = true })
m.observe(a, { mean = A, sigma = sa })
m.observe(b, { mean = 1e4 * B, sigma = sb })

m.random(function(u) return { k1 = 10^u(-2, -1), k2 = 10^u(7, 8), k3 = 10^u(3.5, 4.5) } end)
-- collocation at 10 and at 12 points of Radau with 36 digits agree in all digits that are here
m.test { k1 = 0.04, k2 = 3e7, k3 = 1e4, tolerance = 1e-11, t = {0.4, 4, 40, 400, 4000, 40000},
    a = {0.98517211386098991, 0.90551867858425394, 0.71582706871940505, 0.45051866847110245,
         0.18320225777670932, 0.03898337708548285},
    b = {3.3863953789749042e-01, 2.2404756875602009e-01, 9.1855347645577643e-02, 3.2229014416746115e-02,
         8.9423712527759095e-03, 1.6217683159096825e-03} }
-- at the end the rates nearly cancel: rounding leaves eight digits
m.test { k1 = 0.04, k2 = 3e7, k3 = 1e4, tolerance = 1e-7, t = {400000, 4e+07, 4e+10},
    a = {0.0049382745209798152, 5.2030718441205475e-05, 5.2083451767992391e-08},
    b = {1.9849940879543756e-04, 2.0813357318925326e-06, 2.0833381779254891e-09} }
