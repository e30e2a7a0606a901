/* eval.h -- the reference interpreter: the graph evaluated as it is written, in extended precision.
 *
 * Every value carries its derivative with respect to one parameter (a dual number, Clifford 1873; forward
 * mode, Wengert 1964), computed while evaluating and so independent of diff.c.  Its numbers: real.h.  Slow and plain
 * on purpose: it is what the emitted code is judged by.
 *
 * How strictly it may judge is told by the running error `e` (Wilkinson 1963; Higham 2002, section 3.3):
 * what rounding in double does to the value, to first order.  Each operation passes on the errors of its
 * operands times its slopes and adds its own: one rounding, two for a function, and the absolute error of
 * sines and cosines put together from tables.
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

/* Where expressions are evaluated.  Arrays are borrowed. */
struct hg_point {
    const double *param, *linear, *setting, *coord, *column; /* by ref; linear and coord of one group */
    const double *time; /* ntime frame times, s */
    uint32_t ntime;
    double step;
    uint32_t i, j;      /* frames of the pair */
    hg_id seed;         /* leaf whose derivative is 1 (a PARAM or LINEAR node), or 0 */

    /* Of models with states: columns of the nhistory rows before, the first one first; NULL: some are made up, like
     * this row (marcher.h). */
    const double *const *history;
    uint32_t nhistory;
    int sharp;                      /* states of a differential equation, more sharply than their tolerance, which is
                                       then their error */
    const struct hg_marcher *march; /* not NULL: inside a step, where it knows all leaves */
};

struct hg_eval;

/* An evaluator for the given roots. */
struct hg_eval *hg_eval_new(const struct hg_expr *e, uint32_t nroot, const hg_id *root);
void hg_eval_free(struct hg_eval *ev);

/* Evaluates everything at p (all tables over time and the pair). */
void hg_eval_run(struct hg_eval *ev, const struct hg_point *p);

/* The same, after a run with the same parameters: only what contains states or columns. */
void hg_eval_along(struct hg_eval *ev, const struct hg_point *p);

/* The point of the last hg_eval_run once more, with p->seed as seed: only what depends on this seed or the last one. */
void hg_eval_seed(struct hg_eval *ev, const struct hg_point *p);

/* Only the nodes that vary with the pair or the row, after hg_eval_run with the same parameters and group. */
void hg_eval_pair(struct hg_eval *ev, const struct hg_point *p);

/* Value of a root or of any node below one; k: frame, for functions of time; of turns of sums as in loop.h. */
struct hg_num hg_eval_get(const struct hg_eval *ev, hg_id id, size_t k);
