/* model.h -- what a model file declares. */
#ifndef HG_MODEL_H
#define HG_MODEL_H

#include "expr.h"
#include "fit/kernel.h" /* enum fit_prior_kind, fit_role, fit_space */

struct hg_symbol_decl {      /* parameter, setting, axis, column or curve */
    const char *name, *unit, *doc;
    uint32_t line;
    hg_id node;
    double start, lower, upper;      /* parameters; setting: start is the default (NaN: must be given) */
    enum fit_prior_kind prior;
    double prior_a, prior_b;
    const char *const *alias;        /* NULL-terminated or NULL */
    int over;                        /* axis index or -1 */
    enum fit_role role;              /* columns */
};

struct hg_list {
    struct hg_symbol_decl *item;
    uint32_t n;
};

struct hg_test {                     /* m.test{}: a point with an expected value */
    uint32_t line;
    double *param, *linear, *setting; /* as many as declared; NaN where not given (then the start) */
    double *coord;                   /* naxis */
    double step, first_time;         /* of the frame grid: t = first_time + k step */
    double t1, t2;                   /* of the pair; multiples of the grid */
    double *column;                  /* table models */
    double expected, tolerance;      /* relative; default 1e-12 */
    const char *variant;             /* "fast" unless given */
};

struct hg_variant {
    const char *name;                /* "fast" (the observe statement), "parity" */
    hg_id mean;                      /* with PARAM and LINEAR leaves */
    uint32_t line;
};

struct hg_model {
    struct hg_expr *expr;
    const char *name, *title, *formula, *reference, *validity;
    const char *file;                /* base name: "laminar.lua" */
    const char *text;                /* the whole source */
    char hash[65];                   /* SHA-256 of it */
    const char *const *alias;        /* other names of the model in configurations */
    enum fit_space space;
    struct hg_list param;            /* nonlinear: refs of PARAM nodes */
    struct hg_list linear;           /* linear: refs of LINEAR nodes */
    struct hg_list setting, axis, column, curve;
    const char *observable;          /* "c2" */
    const char *observable_unit;
    uint32_t observe_line;
    struct hg_variant variant[4];
    uint32_t nvariant;
    uint32_t nscreen;                /* parameter sets drawn from random() with a fixed seed */
    double *screen;                  /* nscreen x param.n */
    struct hg_test *test;
    uint32_t ntest;
};

#endif
