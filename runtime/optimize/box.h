/* box.h -- the quadratic model of L-BFGS-B inside bounds: the compact form of the L-BFGS matrix,
 *
 *     B = theta - W M W^T,  W = (Y, theta S),  M^-1 = ( -D   L^T          )
 *                                                     (  L   theta S^T S  ),
 *
 * D and L: the diagonal and the part of S^T Y below it, pairs ordered by age (Byrd, Lu, Nocedal & Zhu, SIAM J. Sci.
 * Comput. 16 (1995) 1190, equations 3.2-3.4). Vectors of W's columns have 2 c elements for c pairs: first those of
 * Y.
 *
 * Free variables are those that the Cauchy point has not put on a bound. The sums over them that the subspace
 * minimisation needs are kept from one iteration to the next, and updated for the variables that enter and leave. */
#pragma once

#include "optimize/pairs.h"

struct fit_box_model {
    struct fit_optimize *o;
    struct fit_pairs p;
    size_t n, m, c;
    double theta;
    /* kept: m x m, by slots of pairs; n */
    double *SY, *SS;         /* all variables */
    double *YYfree, *SYfree; /* sums over the free variables */
    double *SSbound;         /* over the others */
    double *is_free;         /* 1 or 0 */
    /* work: n each */
    double *d, *xt, *gt, *cauchy, *r, *masked, *heap; /* heap: 2 n */
    double *fixed;                                    /* 1: the Cauchy point has put it on a bound */
    /* work: 2 m each */
    double *u, *v, *w, *Mw, *Mp, *Mc, *pd;
    /* work: m x m */
    double *J, *A, *E, *K;
};

size_t fit_box_kept(size_t n, size_t m);
size_t fit_box_work(size_t n, size_t m);
struct fit_box_model fit_box_of(struct fit_optimize *o);

/* After fit_pairs_take() has taken a pair: updates its sums with the others. */
void fit_box_take(struct fit_box_model *b);

/* Factor J of theta S^T S + L D^-1 L^T for fit_box_middle; 0: the pairs are inconsistent by rounding. */
int fit_box_factor(struct fit_box_model *b);

/* q = M v. */
void fit_box_middle(const struct fit_box_model *b, const double *v, double *q);

/* v = W^T x; W's row of variable k. */
void fit_box_project(const struct fit_box_model *b, const double *x, double *v);
void fit_box_row(const struct fit_box_model *b, size_t k, double *w);

/* The generalised Cauchy point, the first minimum of the model along P(x - t g), in b->cauchy; b->fixed;
 * Mc = M W^T (cauchy - x). */
void fit_box_cauchy(struct fit_box_model *b);

/* The minimum of the model over the free variables, projected into the bounds (section 5.1, and Morales & Nocedal,
 * ACM TOMS 38 (2011) 7), in b->cauchy. 0: the pairs are inconsistent by rounding. */
int fit_box_subspace(struct fit_box_model *b);
