-- Images from interferometers by regularised maximum likelihood: Stokes I, polarised, of several frequencies.
--
-- J(x) = sum over data terms of a (chi2 - 1) + sum over regularizers of b R, of the image I = exp(x).
-- Terms as in Chael et al. 2016 (ApJ 829:11) and 2018 (ApJ 857:23); regularizers as collected in Event Horizon
-- Telescope Collaboration 2019, Paper IV (ApJL 875:L4).  Pixel values are in Jy, coordinates in radians.
-- What is solved for follows from the terms in use: ln I alone, polarisation, spectral index and curvature.

local m = objective "imaging" {
    title = "Images from interferometers: Stokes I, polarised, of several frequencies",
    formula = "J = sum of weight (chi2 - 1) over data terms + sum of weight R over regularizers",
    reference = "Chael et al. 2018, ApJ 857:23; EHT Collaboration 2019 (Paper IV), ApJL 875:L4",
}

---------------------------------------------------------------------------------------------------------------- image
local pixel = m.grid("pixel", "row", "column", "pixels of the image, row by row from the north, columns from the east")
local x = m.free("x", pixel, { doc = "what is solved for: ln I, or I itself" })
local P = m.data("prior", pixel, { doc = "prior image, Jy per pixel" })
local mask = m.data("mask", pixel, { doc = "1: the pixel is solved for, 0: it is empty" })
local floor = m.data("floor", pixel, { doc = "off the mask tvlog and tv2log see epsilon_tv times this" })
local X = m.data("x_pixel", pixel, { doc = "coordinates of pixel centres, from the centre of the grid" })
local Y = m.data("y_pixel", pixel)
local KX = m.data("x_whole", pixel, { doc = "the same from pixel (nx/2, ny/2), rounded down" })
local KY = m.data("y_whole", pixel)

local F = m.hyper("flux", { default = 1, positive = true, doc = "total flux, Jy" })
local B = m.hyper("beam", { positive = true, unit = "rad", doc = "1 / longest baseline" })
local p = m.hyper("pixel_size", { positive = true, unit = "rad", doc = "side of a pixel" })
local as_log = m.hyper("log_transform", { default = 1, bounds = { 0, 1 }, doc = "1: x = ln I, 0: x = I" })
local norm_reg = m.hyper("norm_reg",
    { default = 0, bounds = { 0, 1 }, doc = "1: regularizers are divided by their norms" })
local epsilon_tv = m.hyper("epsilon_tv",
    { default = 0, bounds = { 0, math.huge }, doc = "Jy^2, rounds the corner of total variation" })
local alpha_A = m.hyper("alpha_A", { default = 1, positive = true, doc = "lA: between l1 (small) and l0 (large)" })
local uas_50 = 50 * 3.141592653589 / 180 / 3600e6
local major = m.hyper("major", { default = uas_50, positive = true, unit = "rad", doc = "rgauss: FWHM" })
local minor = m.hyper("minor", { default = uas_50, positive = true, unit = "rad", doc = "rgauss: FWHM" })
local PA = m.hyper("PA", { default = 0, unit = "rad", doc = "rgauss: position angle" })

local active = gt(mask, 0)
local I = m.keep("I", where(active, where(gt(as_log, 0.5), exp(x), x), 0))

----------------------------------------------------------------------------------------------------------------- data
-- Visibilities of the model, once for each distinct baseline and time; legs of triangles and quadrangles share them.
local uv = m.axis("uv", "distinct points of the uv plane")
local z = m.outer("z", uv, I)

-- The mean of weighted squares.  A weight of 0 takes a row out, whatever its value.
local function weighted(w, r) return where(gt(w, 0), sqrt(w) * r, 0) end
local function chi2(axis, w, r) return m.squares(weighted(w, r)) / m.size(axis) end
local function complex_chi2(axis, w, r)
    return m.squares(complex(weighted(w, re(r)), weighted(w, im(r)))) / (2 * m.size(axis))
end

local function data_term(name, doc, value) m.term(name, { kind = "data", value = value, offset = -1, doc = doc }) end

-- The axis of a term, the visibilities z of a model on it (one or several legs), and the weights 1/sigma^2.
local function rows(name, legs, z)
    local axis, leg = m.axis(name), {}
    for k = 1, legs do leg[k] = m.gather(name .. "_z" .. k, axis, z, name .. "_leg" .. k) end
    return axis, m.data(name .. "_weight", axis, { doc = "1/sigma^2" }), leg
end

local function visibility_term(name, doc, z)
    local axis, w, leg = rows(name, 1, z)
    local v = m.data(name .. "_data", axis, { complex = true, doc = "visibilities, Jy" })
    data_term(name, doc, complex_chi2(axis, w, leg[1] - v))
end
visibility_term("vis", "visibilities", z)

local function amplitude_term(name, doc, z)
    local axis, w, leg = rows(name, 1, z)
    local a = m.data(name .. "_data", axis, { doc = "amplitudes, Jy" })
    data_term(name, doc, chi2(axis, w, a - abs(leg[1])))
end
amplitude_term("amp", "amplitudes", z)

-- The error of ln a is sigma / a.
local logamp, w_logamp, logamp_z = rows("logamp", 1, z)
local A = m.data("logamp_data", logamp, { doc = "amplitudes, Jy" })
data_term("logamp", "logarithms of amplitudes", chi2(logamp, w_logamp, A * (log(A) - log(abs(logamp_z[1])))))

local bs, w_bs, bs_z = rows("bs", 3, z)
local b = m.data("bs_data", bs, { complex = true, doc = "bispectra, Jy^3" })
data_term("bs", "bispectra", complex_chi2(bs, w_bs, b - bs_z[1] * bs_z[2] * bs_z[3]))

-- |exp(i a) - exp(i b)| of angles a - b apart, whose square is 2 (1 - cos(a - b)).
local function phase_distance(d) return 2 * sin(d / 2) end
local function closure_phase(leg) return arg(leg[1] * leg[2] * leg[3]) end

local function closure_phase_term(name, doc, z)
    local axis, w, leg = rows(name, 3, z)
    local phi = m.data(name .. "_data", axis, { doc = "closure phases, rad" })
    data_term(name, doc, chi2(axis, w, phase_distance(phi - closure_phase(leg))))
end
closure_phase_term("cphase", "closure phases", z)

local cphase_diag, w_cphase_diag, cphase_diag_z = rows("cphase_diag", 3, z)
local phi_diag = m.data("cphase_diag_data", cphase_diag, { doc = "uncorrelated combinations of closure phases, rad" })
local psi = m.keep("cphase_diag_psi", closure_phase(cphase_diag_z))
data_term("cphase_diag", "uncorrelated closure phases",
    chi2(cphase_diag, w_cphase_diag, phase_distance(phi_diag - m.blocks("cphase_diag_T_psi", psi, "cphase_diag_T"))))

local camp, w_camp, camp_z = rows("camp", 4, z)
local C = m.data("camp_data", camp, { doc = "closure amplitudes" })
data_term("camp", "closure amplitudes",
    chi2(camp, w_camp, C - abs(camp_z[1]) * abs(camp_z[2]) / (abs(camp_z[3]) * abs(camp_z[4]))))

local function log_closure(leg) return log(abs(leg[1])) + log(abs(leg[2])) - log(abs(leg[3])) - log(abs(leg[4])) end

local function log_closure_term(name, doc, z)
    local axis, w, leg = rows(name, 4, z)
    local L = m.data(name .. "_data", axis, { doc = "logarithms of closure amplitudes" })
    data_term(name, doc, chi2(axis, w, L - log_closure(leg)))
end
log_closure_term("logcamp", "log closure amplitudes", z)

local logcamp_diag, w_logcamp_diag, logcamp_diag_z = rows("logcamp_diag", 4, z)
local L_diag = m.data("logcamp_diag_data", logcamp_diag, { doc = "uncorrelated combinations of them" })
local l = m.keep("logcamp_diag_l", log_closure(logcamp_diag_z))
data_term("logcamp_diag", "uncorrelated log closure amplitudes",
    chi2(logcamp_diag, w_logcamp_diag, L_diag - m.blocks("logcamp_diag_T_l", l, "logcamp_diag_T")))

---------------------------------------------------------------------------------------------------------- regularizers
-- The value is divided by its norm when norm_reg is 1.
local function regularizer(name, doc, value, norm)
    m.term(name, { kind = "regularizer", value = value / where(gt(norm_reg, 0.5), norm, 1), doc = doc })
end
local function over_mask(f) return m.sum(where(active, f, 0)) end

-- The slope of the root at 0 is taken as 0: of flat images.
local function root(q) return where(gt(q, 0), sqrt(q), 0) end

local total = m.sum(I)
local N = m.size(pixel)
local log_flux = N * abs(log(F / N))

regularizer("flux", "total flux", (total - F) ^ 2, F ^ 2)
regularizer("simple", "relative entropy", over_mask(I * log(I / P)), F)
regularizer("gs", "relative entropy of Gull and Skilling", over_mask(I * log(I / P) - I + P), F)
regularizer("l1", "sum of sizes", over_mask(abs(I)), F)
local e = 1e-10
regularizer("l1w", "weighted sum of sizes", over_mask(sqrt(I ^ 2 + e) / (sqrt(P ^ 2 + e) + e)), 1)
regularizer("lA", "area",
    over_mask(2 / math.pi * (1 + alpha_A) / alpha_A * atan(math.pi * alpha_A / 2 * abs(I) / F)),
    (1 / (1 + alpha_A) + alpha_A * (B / p) ^ 2) / (alpha_A + 1 / (1 + alpha_A)))
regularizer("patch", "distance from the prior", m.squares(where(active, I - P, 0)) / 2, F ^ 2)
regularizer("cm", "centroid", m.sum(I * KX) ^ 2 + m.sum(I * KY) ^ 2, (B * F) ^ 2)

local function variation(d_row, d_column) return m.sum(root(d_row ^ 2 + d_column ^ 2 + epsilon_tv)) end
local function square_variation(d_row, d_column) return m.squares(d_row) + m.squares(d_column) end

local D_row, D_column = m.difference("D_row", I, "row"), m.difference("D_column", I, "column")
regularizer("tv", "total variation", variation(D_row, D_column), F * p / B)
regularizer("tv2", "squared variation", square_variation(D_row, D_column), p ^ 4 * F ^ 2 / B ^ 4)

local log_I = m.keep("log_I", log(where(active, I, epsilon_tv * floor)))
local E_row, E_column = m.difference("E_row", log_I, "row"), m.difference("E_column", log_I, "column")
regularizer("tvlog", "total variation of ln I", variation(E_row, E_column), log_flux * p / B)
regularizer("tv2log", "squared variation of ln I", square_variation(E_row, E_column), p ^ 4 * log_flux ^ 2 / B ^ 4)

local x0, y0 = m.sum(I * X) / F, m.sum(I * Y) / F
regularizer("compact", "second moment about the centroid", m.sum(I * ((X - x0) ^ 2 + (Y - y0) ^ 2)), F * B ^ 2)
regularizer("compact2", "second moment of the square", m.sum(I ^ 2 * (X ^ 2 + Y ^ 2)), (F * B) ^ 2)

-- Second moments of an elliptical Gaussian.
local mx, my = m.sum(I * X) / total, m.sum(I * Y) / total
local s_xx = m.sum(I * (X - mx) ^ 2) / total
local s_yy = m.sum(I * (Y - my) ^ 2) / total
local s_xy = m.sum(I * (X - mx) * (Y - my)) / total
local lambda_1, lambda_2 = minor ^ 2 / (8 * math.log(2)), major ^ 2 / (8 * math.log(2))
local t_xx = lambda_1 * cos(PA) ^ 2 + lambda_2 * sin(PA) ^ 2
local t_yy = lambda_1 * sin(PA) ^ 2 + lambda_2 * cos(PA) ^ 2
local t_xy = (lambda_2 - lambda_1) * cos(PA) * sin(PA)
m.term("rgauss", { kind = "regularizer", doc = "second moments of a Gaussian",
    value = ((s_xx - t_xx) ^ 2 + (s_yy - t_yy) ^ 2 + 2 * (s_xy - t_xy) ^ 2) / (major * minor) ^ 2 })

-------------------------------------------------------------------------------------------------------- polarisation
-- Q + iU = I m exp(i phi), V = I v; m and v are the fractions that are polarised linearly and circularly, phi is twice
-- the angle of the electric vector.  Where both are solved for, x_rho and x_psi make rho = hypot(m, v) and the angle
-- between them.  Where one is, its array makes a fraction that leaves m + |v| below 1, and the other array is the other
-- fraction itself.
local x_rho = m.free("x_rho", pixel, { doc = "what m is made of, or m" })
local phi = m.free("phi", pixel, { unit = "rad", doc = "arg (Q + iU)" })
local x_psi = m.free("x_psi", pixel, { doc = "what v is made of, or v" })
local solve_m = m.hyper("solve_m",
    { default = 1, bounds = { 0, 1 }, doc = "1: linear polarisation is solved for, 0: x_rho is m" })
local solve_v = m.hyper("solve_v",
    { default = 1, bounds = { 0, 1 }, doc = "1: circular polarisation is solved for, 0: x_psi is v" })
local vflux = m.hyper("vflux", { doc = "total V, Jy" })

local rho = 1 / 2 + atan(2 * x_rho) / math.pi
local c_psi = 1 / sqrt(1 + x_psi ^ 2)
local m_fixed, v_fixed = lt(solve_m, 0.5), lt(solve_v, 0.5)
local linear = m.keep("fraction_m", where(m_fixed, x_rho, rho * where(v_fixed, 1 - abs(x_psi), c_psi)))
local circular = m.keep("fraction_v",
    where(v_fixed, x_psi, where(m_fixed, 2 * (1 - abs(x_rho)) * atan(x_psi) / math.pi, rho * x_psi * c_psi)))
local Q, U = m.keep("Q", I * linear * cos(phi)), m.keep("U", I * linear * sin(phi))
local V = m.keep("V", I * circular)
local zq, zu, zv = m.outer("z_Q", uv, Q, "z"), m.outer("z_U", uv, U, "z"), m.outer("z_V", uv, V, "z")

-- Rows of pvis and m are all baselines in both directions: those of Q + iU are no conjugates of each other.
local function polarised(name)
    local axis, w, leg = rows(name, 1, zq)
    return axis, w, leg[1] + i * m.gather(name .. "_zu", axis, zu, name .. "_leg1")
end

local pvis, w_pvis, pvis_z = polarised("pvis")
local d_pvis = m.data("pvis_data", pvis, { complex = true, doc = "visibilities of Q + iU, Jy" })
data_term("pvis", "linear polarisation", complex_chi2(pvis, w_pvis, pvis_z - d_pvis))

local frac, w_frac, frac_z = polarised("m")
local d_frac = m.data("m_data", frac, { complex = true, doc = "visibilities of Q + iU over those of I" })
data_term("m", "fractional linear polarisation",
    complex_chi2(frac, w_frac, frac_z / m.gather("m_zi", frac, z, "m_leg1") - d_frac))

visibility_term("vvis", "circular polarisation", zv)

regularizer("msimple", "entropy of m", over_mask(I * log(linear)), F)
local up, down = (1 + linear) / 2, (1 - linear) / 2
regularizer("hw", "entropy of Holdaway and Wardle", over_mask(I * (up * log(up) + down * log(down))), F)
local function differences(name, image)
    return m.difference(name .. "_row", image, "row"), m.difference(name .. "_column", image, "column")
end
local function squares(name, image)
    local d_row, d_column = differences(name, image)
    return d_row ^ 2 + d_column ^ 2
end
regularizer("ptv", "total variation of Q + iU", m.sum(root(squares("D_Q", Q) + squares("D_U", U) + epsilon_tv)),
    F * p / B)
local v_total, V_size = m.sum(V), abs(vflux)
regularizer("vflux", "total V", (v_total - vflux) ^ 2, vflux ^ 2)
regularizer("l1v", "sum of sizes of V", m.sum(abs(V)), V_size)
regularizer("l2v", "sum of squares of V", m.squares(V), vflux ^ 2)
local V_row, V_column = differences("D_V", V)
regularizer("vtv", "total variation of V", variation(V_row, V_column), V_size * p / B)
regularizer("vtv2", "squared variation of V", square_variation(V_row, V_column), p ^ 4 * vflux ^ 2 / B ^ 4)

---------------------------------------------------------------------------------------------------- several frequencies
-- Channel c sees I exp(alpha l + beta l^2), l = ln(frequency / reference).
local alpha = m.free("alpha", pixel, { doc = "spectral index" })
local beta = m.free("beta", pixel, { doc = "its curvature" })
local channels = m.hyper("channels", { default = 0, bounds = { 0, 4 }, doc = "how many there are" })
local excess = 0
for c = 1, 4 do
    local l = m.hyper("log_ratio_" .. c, { default = 0, doc = "ln(frequency of channel " .. c .. " / reference)" })
    local flux = m.hyper("flux_" .. c, { default = 1, positive = true, doc = "total flux of channel " .. c .. ", Jy" })
    local I_c = m.keep("I_" .. c, I * exp(alpha * l + beta * l ^ 2))
    local z_c = m.outer("z_" .. c, m.axis("uv_" .. c, "points of the uv plane of channel " .. c), I_c)
    local of = " of channel " .. c
    visibility_term("vis_" .. c, "visibilities" .. of, z_c)
    amplitude_term("amp_" .. c, "amplitudes" .. of, z_c)
    closure_phase_term("cphase_" .. c, "closure phases" .. of, z_c)
    log_closure_term("logcamp_" .. c, "log closure amplitudes" .. of, z_c)
    excess = excess + where(gt(channels, c - 0.5), (m.sum(I_c) - flux) ^ 2 / where(gt(norm_reg, 0.5), flux ^ 2, 1), 0)
end
m.term("flux_mf", { kind = "regularizer", doc = "total fluxes of channels", value = excess })

for k, of in ipairs { alpha, beta } do
    local name = k == 1 and "alpha" or "beta"
    local prior = m.data(name .. "_prior", pixel)
    local inside = m.keep(name .. "_inside", where(active, of, 0))
    regularizer("l2_" .. name, "squared distance from the prior of " .. name, m.squares(where(active, of - prior, 0)),
        m.sum(where(active, 1, 0)))
    regularizer("tv_" .. name, "total variation of " .. name, m.sum(root(squares("D_" .. name, inside) + epsilon_tv)),
        N * p / B)
end
