/* eval.h -- the reference interpreter: evaluates the graph as it is written, in extended precision.
 *
 * Every value carries its derivative with respect to one parameter (a dual number, Clifford 1873; forward mode, Wengert
 * 1964). It is computed during evaluation and is therefore independent of diff.c. real.h defines its numbers. The
 * interpreter is deliberately slow and simple: the emitted code is checked against it.
 *
 * The running error `e` (Wilkinson 1963; Higham 2002, section 3.3) sets the tolerance of these checks: the effect of
 * rounding in double on the value, to first order. Each operation passes on the errors of its operands times its slopes
 * and adds its own: one rounding, two for a function, and the absolute error of sines and cosines composed from tables.
 */
#pragma once

#include "graph/expr.h"
#include "graph/real.h"

struct hg_num {
    hg_real v; /* value */
    hg_real d; /* derivative with respect to the seed */
    hg_real e; /* rounding error to expect of v in double, in units of 2^-53 */
};

struct hg_marcher;

/* The point at which expressions are evaluated. Arrays are borrowed. */
struct hg_point {
    const double *param, *linear, *setting, *coord, *column; /* by ref; linear and coord: of one group */
    const double *time; /* ntime frame times, s */
    uint32_t ntime;
    double step;
    uint32_t i, j;      /* frames of the pair */
    hg_id seed;         /* leaf whose derivative is 1 (a PARAM or LINEAR node), or 0 */

    /* For models with states: columns of the nhistory rows before, from the first; NULL: some rows are made up,
     * similar to this one (marcher.h). */
    const double *const *history;
    uint32_t nhistory;
    int sharp;                      /* solves differential equations of states more accurately than to their
                                     * tolerance, which is then taken as the error */
    const struct hg_marcher *march; /* not NULL: inside a step; it supplies all leaves */
};

struct hg_eval;

/* An evaluator for the given roots. */
struct hg_eval *hg_eval_new(const struct hg_expr *e, uint32_t nroot, const hg_id *root);
void hg_eval_free(struct hg_eval *ev);

/* Evaluates everything at p (all tables over time and the pair). */
void hg_eval_run(struct hg_eval *ev, const struct hg_point *p);

/* The same after a run with the same parameters: only nodes that contain states or columns. */
void hg_eval_along(struct hg_eval *ev, const struct hg_point *p);

/* The point of the last hg_eval_run once more, with the seed p->seed: only nodes that depend on this seed or the
 * last one. */
void hg_eval_seed(struct hg_eval *ev, const struct hg_point *p);

/* Only the nodes that vary with the pair or the row, after hg_eval_run with the same parameters and group. */
void hg_eval_pair(struct hg_eval *ev, const struct hg_point *p);

/* Value of a root or of any node below one. k: the frame, for functions of time; the turns of sums as in loop.h. */
struct hg_num hg_eval_get(const struct hg_eval *ev, hg_id id, size_t k);
