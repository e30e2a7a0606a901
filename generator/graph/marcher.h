/* marcher.h -- the reference interpreter of states (march.h): along rows of made-up or given columns, in extended
 * precision, with dual numbers and running errors as in eval.h.
 */
#pragma once

#include "graph/eval.h"
#include "graph/march.h"

/* Number of rows that are made up when a point has no history: their columns grow towards its own, each at its own
 * rate. */
enum { HG_MADE_UP_ROWS = 4 };

struct hg_marcher;

/* slopes: with derivatives of the states, not only dual numbers. */
struct hg_marcher *hg_marcher_new(const struct hg_expr *e, int slopes);
void hg_marcher_free(struct hg_marcher *x);

/* The value `place` in the row of p, after the rows of its history, where the symbols of steps have the values arg
 * (march.h). A derivative has no dual number. */
struct hg_num hg_marcher_get(struct hg_marcher *x, struct hg_carried_place place, const struct hg_num *arg,
                             const struct hg_point *p);

/* The same values alone, of arguments that are doubles, by numbers of 113 bits (real.h): they are the same on every
 * machine. */
struct hg_wide_marcher;
struct hg_wide_marcher *hg_wide_marcher_new(const struct hg_expr *e, int slopes);
void hg_wide_marcher_free(struct hg_wide_marcher *x);
double hg_wide_marcher_double(struct hg_wide_marcher *x, struct hg_carried_place place, const double *arg,
                              const struct hg_point *p);

/* Inside a march: the number that a leaf stands for. */
struct hg_num hg_marcher_leaf(const struct hg_marcher *x, hg_id leaf);
