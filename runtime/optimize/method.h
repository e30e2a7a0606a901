/* method.h -- the interface between a run and a method: the description of a method, and its working data.
 *
 * A method makes one iteration at a time. Its whole state from one iteration to the next is one block of doubles, so
 * that a state file is that block: struct fit_optimize_state, x, gradient, and the method's own. */
#pragma once

#include "base/arena.h"
#include "optimize/optimize.h"

enum fit_optimize_kind {
    FIT_OPTIMIZE_LINE_SEARCH,
    FIT_OPTIMIZE_FIRST_ORDER,
    FIT_OPTIMIZE_LEAST_SQUARES,
    FIT_OPTIMIZE_USER
};

/* What a method supports (bounds, a state file) and what it requires (normal equations). */
enum { FIT_OPTIMIZE_HAS_BOUNDS = 1, FIT_OPTIMIZE_HAS_STATE = 2, FIT_OPTIMIZE_NEEDS_NORMAL = 4 };

/* How an iteration ended. */
enum fit_optimize_step { FIT_STEP_DONE, FIT_STEP_NO_DECREASE, FIT_STEP_NONFINITE };

struct fit_optimize_method {
    const char *name, *summary;
    enum fit_optimize_kind kind;
    unsigned traits;
    /* Doubles of its own state, and doubles of work space. NULL: 0. */
    size_t (*kept)(size_t n, const struct fit_optimize_options *opt);
    size_t (*work)(size_t n, const struct fit_optimize_options *opt);
    /* One iteration from o->x to the next, which it leaves in o->x, o->g and o->s->f; these are unchanged when it is
     * not DONE. */
    enum fit_status (*step)(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err);
    /* Discards the knowledge about the function in the state: the next step is one of steepest descent. NULL:
     * nothing to discard. */
    void (*forget)(struct fit_optimize *o);
    /* Instead of step, a whole run: x, result. */
    enum fit_status (*whole)(struct fit_optimize *o, struct fit_optimize_result *result, struct fit_error *err);
    const void *user; /* of a user's own method */
};

/* All doubles: the block is saved as it is. */
struct fit_optimize_state {
    double iteration, nfev, ngev;
    double f, before;     /* value at x, and one iteration earlier */
    double passed;        /* iterations in a row that passed the test of ftol */
    double forgotten;     /* 1: the memory was discarded since the last completed step */
    double step;          /* factor of the last direction */
    double promised;      /* decrease of the value that the model predicts for its last direction */
    double pairs, newest; /* L-BFGS: how many, and where the newest is */
    double theta;         /* L-BFGS: y.y / s.y of the newest */
};

struct fit_optimize {
    const struct fit_optimize_method *method;
    struct fit_optimize_options opt;
    size_t n, nkept, nwork, nblock; /* nblock: doubles of the state file */
    const struct fit_optimize_problem *problem;
    double *block; /* s, x, g, kept, in this order */
    struct fit_optimize_state *s;
    double *x, *g, *kept;
    double *work; /* nwork */
    struct fit_arena storage;
};

/* Value and gradient at x, counted; *f is +INFINITY where they are not finite. */
enum fit_status fit_optimize_evaluate(struct fit_optimize *o, const double *x, double *f, double *g,
                                      struct fit_error *err);

/* Norms of the gradient at x without the elements that bounds block: with bounds, the largest element and the
 * Euclidean length of P(x - g) - x (Conn, Gould & Toint 1988), limited to the size of the gradient. */
void fit_optimize_norms(const struct fit_optimize_problem *p, const double *x, const double *g, double *largest,
                        double *norm);

/* A step of a first-order method to x, which is projected into the bounds: accepted where the value is finite. g: n
 * doubles of work space. */
enum fit_status fit_optimize_arrive(struct fit_optimize *o, double *x, double *g, enum fit_optimize_step *end,
                                    struct fit_error *err);

/* The end of a run by a method that does the whole of it: value, gradient and norms at o->x. result->end comes from
 * the method, except that a gradient below gtol and a non-finite value take precedence. */
enum fit_status fit_optimize_conclude(struct fit_optimize *o, struct fit_optimize_result *result,
                                      struct fit_error *err);

/* Reports a point to watch(); nonzero: stop. */
int fit_optimize_watched(const struct fit_optimize *o);

/* Projects x into the bounds. */
void fit_optimize_inside(const struct fit_optimize_problem *p, double *x);

/* Is there a finite bound? */
int fit_optimize_bounded(const struct fit_optimize_problem *p);
