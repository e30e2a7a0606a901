local m = model "table_page" {
    title = "A & B: 100% of \\texttt{x_1} < y > #2 $3 {~^}",
    formula = [[
y = b + a exp(-(x/tau)^beta)   if x < cut & y > 0 <script>alert("&amp;")</script>
    --second line \end{verbatim} 50% #1]],
    reference = "Müller & Ångström, J. \"Tests\" 1 (1900) <1>; τ ≥ 0 in Å², 日本",
    validity = "x < cut, y > 0 & a_1 = 100%.\n\nSecond paragraph.",
    alias = { "table & page" },
}
local x, y, s = m.columns({ "x", unit = "nm", doc = "<abscissa> & co" }, { "y", unit = "kg*m^2/s^2" },
                          { "s_y", unit = "kg*m^2/s^2" })
local cut = m.setting("cut", { unit = "nm", default = 2.5, doc = "where it ends" })
local tau = m.parameter("tau", { unit = "nm", start = 1e-7, bounds = {1e-9, math.huge}, prior = {"log_normal", 0, 2} })
local beta = m.parameter("beta_hat_2", { start = 1/3, bounds = {-2, 3}, prior = {"beta", 2, 3}, alias = {"b_2"} })
local a1 = m.parameter("a1", { unit = "kg*m^2/s^2", start = 1.5e10, doc = "amplitude, 50% < a" })
local b = m.parameter("b_long_name", { unit = "kg*m^2/s^2", start = -2, prior = {"half_normal", 3} })
local kappa_bar = m.parameter("kappa_bar", { start = 0.2, bounds = {0, 1}, prior = {"normal", 0, 1} })

local z = where(lt(x, cut), x, cut)
local u = clamp((z / tau)^beta, -30, 30)
local tail = softplus(-u) / 3 + log1p(u^2) * sqrt(u^2 + pi / 4) - atan2(u, 2 * pi)
local decay = exp(-u) * sin(2 * pi * u)^2
local function weighted(f)
    local tail = kappa_bar * f          -- a second thing of this name
    return tail - f / (-kappa_bar - 1)
end
m.observe(y, { mean = b + a1 * (weighted(decay) + where(le(tail, 0), abs(tail), -tail * (1 - tail))), sigma = s })
m.curve("relaxation", decay, "how it decays & why")
m.curve("z_shown", convert(z, "angstrom"))
m.test { x = 1, tau = 2, beta_hat_2 = 1, a1 = 1, b_long_name = 0, kappa_bar = 0, y = 1, tolerance = 10 }
