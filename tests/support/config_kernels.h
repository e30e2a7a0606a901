/* config_kernels.h -- descriptors without functions, for tests of the configuration: only names,
 * units and bounds matter.  Numbers are those of the Python packages' registries. */
#ifndef TESTS_CONFIG_KERNELS_H
#define TESTS_CONFIG_KERNELS_H

#include <math.h>

#include "fit/kernel.h"

static const char *const alias_gamma[] = {"gamma_dot_0", "gamma0", NULL};
static const char *const alias_gamma_offset[] = {"gamma_dot_offset", "gamma_offset", NULL};
static const char *const alias_phi0[] = {"phi_0", NULL};
static const char *const alias_beta[] = {"v_beta", NULL};
static const char *const alias_phi0_het[] = {"phi0_het", "phi_0", NULL};

#define PARAM(n, u, a, s, lo, hi)                                                                  \
    {                                                                                              \
        n, u, "", a, s, lo, hi, FIT_PRIOR_NONE, 0, 0, -1                                           \
    }

static const struct fit_param laminar_param[] = {
    PARAM("D0", "angstrom^2/s", NULL, 1000, 100, 1e5),
    PARAM("alpha", "1", NULL, 0.5, -2, 2),
    PARAM("D_offset", "angstrom^2/s", NULL, 10, -1e5, 1e5),
    PARAM("gamma_dot_t0", "1/s", alias_gamma, 0.01, 1e-6, 0.5),
    PARAM("beta", "1", NULL, 0.5, -2, 2),
    PARAM("gamma_dot_t_offset", "1/s", alias_gamma_offset, 0, -0.1, 0.1),
    PARAM("phi0", "deg", alias_phi0, 0, -10, 10),
};
static const struct fit_param heterodyne_param[] = {
    PARAM("D0_ref", "angstrom^2/s", NULL, 1e4, 100, 1e6),
    PARAM("alpha_ref", "1", NULL, 0, -2, 2),
    PARAM("D_offset_ref", "angstrom^2/s", NULL, 0, -1e5, 1e5),
    PARAM("D0_sample", "angstrom^2/s", NULL, 1e4, 100, 1e6),
    PARAM("alpha_sample", "1", NULL, 0, -2, 2),
    PARAM("D_offset_sample", "angstrom^2/s", NULL, 0, -1e5, 1e5),
    PARAM("v0", "angstrom/s", NULL, 1e3, 1e-6, 1e4),
    PARAM("beta", "1", alias_beta, 0, -2, 2),
    PARAM("v_offset", "angstrom/s", NULL, 0, -100, 100),
    PARAM("f0", "1", NULL, 0.5, 0, 1),
    PARAM("f1", "1/s", NULL, 0, -10, 10),
    PARAM("f2", "s", NULL, 0, -1e4, 1e4),
    PARAM("f3", "1", NULL, 0, 0, 1),
    PARAM("phi0", "deg", alias_phi0_het, 0, -10, 10),
};
static const struct fit_param scaling_param[] = {
    {"contrast", "1", "", NULL, 0.3, 0, 1, FIT_PRIOR_NONE, 0, 0, 0},
    {"offset", "1", "", NULL, 1, 0.5, 1.5, FIT_PRIOR_NONE, 0, 0, 0},
};
static const struct fit_setting flow_setting[] = {
    {"q", "1/angstrom", "", NAN, FIT_STATISTIC_NONE, 0},
    {"gap", "angstrom", "", NAN, FIT_STATISTIC_NONE, 0},
    {"temperature", "1", "", 300, FIT_STATISTIC_NONE, 0},
};
static const struct fit_axis phi_axis[] = {{"phi", "deg", ""}};

#define KERNEL(id, peer_, mode_, nparam_, param_, nsetting_)                                                \
    static const struct fit_kernel id##_kernel = {.abi = FIT_KERNEL_ABI,                           \
                                                  .name = #id,                                     \
                                                  .variant = "fast",                               \
                                                  .peer = peer_,                                   \
                                                  .mode = mode_,                                   \
                                                  .first_step = peer_ == FIT_PEER_HETERODYNE,      \
                                                  .nparam = nparam_,                               \
                                                  .param = param_,                                 \
                                                  .nlinear = 2,                                    \
                                                  .linear = scaling_param,                         \
                                                  .intercept = 1,                                  \
                                                  .nsetting = nsetting_,                           \
                                                  .setting = flow_setting,                         \
                                                  .naxis = 1,                                      \
                                                  .axis = phi_axis}

KERNEL(static_isotropic, FIT_PEER_HOMODYNE, "static", 3, laminar_param, 1);
KERNEL(static_anisotropic, FIT_PEER_HOMODYNE, "static", 3, laminar_param, 1);
KERNEL(laminar, FIT_PEER_HOMODYNE, "laminar_flow", 7, laminar_param, 3);
KERNEL(heterodyne, FIT_PEER_HETERODYNE, NULL, 14, heterodyne_param, 1);

/* A table model. */
static const struct fit_column decay_column[] = {{"t", "s", "", FIT_ROLE_COVARIATE, 0, 0},
                                                 {"y", "1", "", FIT_ROLE_VALUE, 0, 0}};
static const struct fit_param decay_param[] = {
    {"rate", "1/s", "", NULL, 1, 0, INFINITY, FIT_PRIOR_LOG_NORMAL, 0, 1, -1}};
static const struct fit_kernel decay_kernel = {.abi = FIT_KERNEL_ABI,
                                               .name = "decay",
                                               .variant = "fast",
                                               .space = FIT_ROWS,
                                               .nparam = 1,
                                               .param = decay_param,
                                               .nlinear = 2,
                                               .linear = scaling_param,
                                               .ncolumn = 2,
                                               .column = decay_column};

#endif
