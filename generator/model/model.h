/* model.h -- declarations of a model file. */
#pragma once

#include "base/diag.h"
#include "graph/expr.h"
#include "fit/kernel.h" /* enum fit_prior_kind, fit_role, fit_space */
#include "graph/units.h"

struct hg_symbol_decl {      /* parameter, setting, axis, column, curve or derived quantity */
    const char *name, *unit, *doc;
    uint32_t line;
    hg_id node;
    double start, lower, upper;      /* parameters; setting: start is the default (NaN: must be given);
                                        columns, axes, settings: lower < upper is the declared range */
    enum fit_prior_kind prior;
    double prior_a, prior_b;
    uint32_t prior_from[2];          /* 1 + nonlinear parameter that stands for prior_a, prior_b; 0: the number */
    int hyper;                       /* parameters: stands in a prior of another */
    const char *const *alias;        /* NULL-terminated or NULL */
    int over;                        /* axis index or -1 */
    int keep;                        /* parameters: declared `linear = false` */
    uint32_t written; /* curves, steps of states, derived quantities: the formula as written (written.h) */
    uint32_t before;                 /* states: their values before the first row, as written */
    enum fit_role role;              /* columns */
    int has_empty;                   /* columns: an empty cell stands for the number */
    double empty;
    enum fit_statistic statistic;    /* settings: known when data are loaded, of the column `of` */
    uint32_t of;
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
    uint32_t nrow;                   /* of models with states: rows; the last one is `column` */
    const double **row;              /* nrow: their columns */
    double *expect;                  /* nrow; NaN: nothing is known of this row */
    double *derived;                 /* of derived quantities; NaN where not given */
    double expected, tolerance;      /* of the mean, NaN where not given; relative, default 1e-12 */
    const char *variant;             /* "fast" unless given */
};

/* A noise distribution that is not normal (or normal with parameters of its own): fit/kernel.h, fit_density. */
enum { HG_LAW_ARGUMENTS = 4 };
struct hg_density {
    const char *name;                /* "poisson" */
    enum fit_law law;
    enum fit_support support;
    uint32_t narg;
    const char *arg_name[HG_LAW_ARGUMENTS];
    hg_id arg[HG_LAW_ARGUMENTS];
    hg_id value;                     /* COLUMN node of what is measured */
    hg_id node;                      /* log density, with PARAM leaves and `value` */
    uint32_t written, line;
};

/* One of several measured quantities of a table. */
struct hg_quantity {
    uint32_t value;                  /* its column */
    int sigma;                       /* that of its standard deviation; -1: none */
    enum fit_support support;        /* where errors have a law */
};

struct hg_rate;
struct hg_objective;

struct hg_variant {
    const char *name;                /* "fast" (the observe statement), "parity" */
    hg_id mean;                      /* with PARAM and LINEAR leaves */
    uint32_t written;                /* the mean as written (written.h) */
    uint32_t line;
};

struct hg_model {
    struct hg_expr *expr;
    const char *name, *title, *formula, *reference, *validity;
    const char *file;                /* base name: "laminar.lua" */
    const char *text;                /* the whole source */
    char hash[65];                   /* SHA-256 of it */
    const char *const *alias;        /* other names of the model in configurations */
    const char *package, *mode;      /* Python package that has the model too, and its name there; or NULL */
    enum fit_space space;
    struct hg_list param;            /* nonlinear: refs of PARAM nodes */
    struct hg_list linear;           /* linear: refs of LINEAR nodes */
    struct hg_list setting, axis, column, curve, derived;
    struct hg_objective *objective;  /* of arrays (objective.h): columns are arrays, settings numbers; or NULL */
    struct hg_list state;            /* by the number of states in graph/march.h; written: of the step */
    int feedback;                    /* states read what is measured */
    const char *observable;          /* "c2" */
    const char *observable_unit;
    struct hg_quantity *quantity;    /* tables: nquantity; of more than one, `which` names the quantity of a row */
    uint32_t nquantity;
    size_t quantity_room;
    int which;                       /* column with the number of the quantity, from 0; -1: there is but one */
    uint32_t observe_line;
    struct hg_density *density;      /* NULL: errors are normal, and the mean is sufficient */
    int has_noise;                   /* observe gives the noise a prior of its own: */
    struct hg_symbol_decl noise;
    struct hg_variant variant[4];
    uint32_t nvariant;
    double accuracy;                 /* ulp allowed; 0: the default */
    uint32_t nscreen;                /* parameter sets drawn from random() with a fixed seed */
    double *screen;                  /* nscreen x param.n */
    int has_random;                  /* by the author's random(), not from the bounds */
    struct hg_test *test;
    uint32_t ntest;
    const char *grid_name;           /* of the time grid: "t"; pairs only */
    int first_step;                  /* frame periods from t = 0 to the first frame of a window: 0 or 1 */
    struct hg_units *units;
    hg_unit *node_unit;              /* by node id, see hg_model_unit */
    size_t nnode_unit, node_unit_room;
    struct hg_written *written;      /* formulas as written (written.h) */
    int primed;                      /* hg_written_primes has been called */
    size_t nwritten, written_room;
    struct hg_rate *rate;            /* nrate, see rates.h */
    uint32_t nrate;
};

/* An empty model with an empty graph. */
struct hg_model *hg_model_new(struct hg_arena *a);

/* Declares a symbol: a copy of *s in the list. */
struct hg_symbol_decl *hg_model_declare(struct hg_model *m, struct hg_list *list,
                                        const struct hg_symbol_decl *s);

/* The symbol of that name among parameters (both kinds), settings, axes and columns; NULL when there is
 * none. */
const struct hg_symbol_decl *hg_model_find(const struct hg_model *m, const char *name);

/* Parameter k of both kinds: the nonlinear ones in their order, then the linear ones. */
const struct hg_symbol_decl *hg_model_unknown(const struct hg_model *m, uint32_t k);

/* A number for symbol k of a list that a model does not fix (setting, axis, column): that of the first test that
 * names it, its default, or 1. offset: of the list's values in struct hg_test. *told (may be NULL): 0 when it is the
 * fallback of 1. */
double hg_model_typical(const struct hg_model *m, const struct hg_list *list, uint32_t k,
                        size_t offset, int *told);

/* A value within the bounds or the range of s: lower at u = 0, upper at 1; on a logarithmic scale when these are
 * positive and more than a factor 100 apart. */
double hg_model_between(const struct hg_symbol_decl *s, double u);

/* Coordinate of group g of several on an axis, for tests: spread over its range, or else around the typical number. */
double hg_model_coordinate(const struct hg_model *m, uint32_t axis, uint32_t g, uint32_t groups);

/* 0 when nothing gives the size of a setting, an axis or a column: tests then use values near 1. Warns of each when
 * d is given. */
int hg_model_sizes_told(const struct hg_model *m, struct hg_diag *d);

/* The variant of that name, or NULL. */
const struct hg_variant *hg_model_variant(const struct hg_model *m, const char *name);

/* 1 when the name can be used as it is in C: an identifier, not a keyword, not reserved. */
int hg_name_is_c(const char *name);

/* Unit of a node. The front end supplies those that the author wrote (hg_model_set_unit; the first one stays unless
 * `force`); the others follow from the operands. UNKNOWN when the unit depends on a parameter, as for t^alpha. */
hg_unit hg_model_unit(struct hg_model *m, hg_id id);
void hg_model_set_unit(struct hg_model *m, hg_id id, hg_unit unit, int force);

/* The same as text for a comment; NULL when unknown. */
const char *hg_model_unit_text(struct hg_model *m, hg_id id);


/* 1 when a derived quantity has one value for each group. */
int hg_model_derived_each(const struct hg_model *m, const struct hg_symbol_decl *derived);

/* 1 when some mean, or the noise distribution, contains the node. */
int hg_model_uses(const struct hg_model *m, hg_id node);

/* 1 when d mean / d a is free of b, for parameters a, b that may be equal.  A second derivative of 0 is not
 * enough: that of |a| and of floor_at(a, 0) is 0 almost everywhere. */
int hg_model_is_linear(struct hg_model *m, hg_id mean, hg_id a, hg_id b);
/* The same in the means of all variants. */
int hg_model_linear_everywhere(struct hg_model *m, hg_id a, hg_id b);

/* Checks the model as a whole: the mean is linear in the linear parameters, it varies with the declared quantities,
 * and nothing is unused. Returns 0 when errors were reported. */
int hg_model_check(struct hg_model *m, struct hg_diag *d);

/* Warns about parameters in which the mean is linear, jointly with the linear ones, but which are not declared
 * linear. Adds nodes to the graph: call it after the kernel is written. */
void hg_model_warn_linear(struct hg_model *m, struct hg_diag *d);
