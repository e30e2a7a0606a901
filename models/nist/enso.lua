local m = model "enso" {
    title = "El Nino: differences of air pressure between Easter Island and Darwin",
    formula = [[
y(x) = b1 + b2 * cos(2 * pi * x / 12) + b3 * sin(2 * pi * x / 12)
       + b5 * cos(2 * pi * x / b4) + b6 * sin(2 * pi * x / b4)
       + b8 * cos(2 * pi * x / b7) + b9 * sin(2 * pi * x / b7)
]],
    reference = [[
D. Kahaner, C. Moler, S. Nash, Numerical Methods and Software, Prentice Hall (1989) 441-445;
NIST Statistical Reference Datasets, nonlinear regression: ENSO (public domain)]],
    validity = [[
Level of difficulty: average.  The start is the second of the two that come with the data.
The order of the second and third cycle is a matter of the start.]],
}

local x, y = m.columns({ "x", doc = "time, months" },
                         { "y", doc = "difference of pressure, monthly mean" })

local b1 = m.parameter("b1", { start = 10, doc = "mean" })
local b2 = m.parameter("b2", { start = 3, doc = "yearly cycle, cosine" })
local b3 = m.parameter("b3", { start = 0.5, doc = "yearly cycle, sine" })
local b4 = m.parameter("b4", { start = 44, doc = "period of the second cycle, months" })
local b5 = m.parameter("b5", { start = -1.5, doc = "second cycle, cosine" })
local b6 = m.parameter("b6", { start = 0.5, doc = "second cycle, sine" })
local b7 = m.parameter("b7", { start = 26, doc = "period of the third cycle, months" })
local b8 = m.parameter("b8", { start = -0.1, doc = "third cycle, cosine" })
local b9 = m.parameter("b9", { start = 1.5, doc = "third cycle, sine" })

local mean = b1 + b2 * cos(2 * pi * x / 12) + b3 * sin(2 * pi * x / 12)
           + b5 * cos(2 * pi * x / b4) + b6 * sin(2 * pi * x / b4)
           + b8 * cos(2 * pi * x / b7) + b9 * sin(2 * pi * x / b7)
m.observe(y, { mean = mean, linear = {b1, b2, b3, b5, b6, b8, b9} })

m.test { x = 1,
         b1 = 10, b2 = 3, b3 = 0.5, b4 = 44, b5 = -1.5, b6 = 0.5, b7 = 26, b8 = -0.1, b9 = 1.5,
         y = 11.696380782357291 }
m.test { x = 85,
         b1 = 10, b2 = 3, b3 = 0.5, b4 = 44, b5 = -1.5, b6 = 0.5, b7 = 26, b8 = -0.1, b9 = 1.5,
         y = 12.77703769099321 }
