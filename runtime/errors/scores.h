/* scores.h -- the information in the residuals of a fit: sums of scores by the frames from which they come, and tests
 * of the residuals.
 *
 * The score of a value is its contribution to the gradient of the cost: w psi(r) d mean / d (theta, lin of its group),
 * P = nparam + nlinear numbers. At the optimum all scores add up to zero; the scatter of sums over some of them says
 * how well the optimum is determined, whatever the noise (sandwich.h).
 *
 * Pairs: frames are combined, in order, into blocks of `length` frames; scores are summed over the pairs (i, j) with i
 * in block a and j in block b. Rows: products of scores, corrected for the leverage, are summed.
 */
#pragma once

#include "errors/misfit.h"
#include "speckle/noise.h"
#include "leastsquares/objective.h"
#include "machine/pages.h"

enum { FIT_SCORE_BLOCKS = 192 }; /* at most; 1000 frames: blocks of 6 */

struct fit_scores {
    size_t ngroup, P;
    size_t nblock, length; /* pairs */
    double *sum;           /* pairs: ngroup x nblock (nblock + 1) / 2 x P, blocks a <= b row by row of a */
    double *first;         /* pairs: ngroup x (P + P x P), over the pairs with the first frame: scores, and J^T W J */
    double *field; /* pairs, or NULL: ngroup x blocks as in sum x (P + 1): sums of v d mean / d (theta, lin), and of
                      v (y - mean), v the weight without the loss */
    struct fit_speckle_moments *moments; /* pairs, or NULL: ngroup; of residuals without weights */
    double *product;       /* rows: ngroup x P x P */
    struct fit_residual_test *test; /* ngroup */
    struct fit_misfit misfit;       /* pairs */
    struct fit_pages sum_, field_;
    struct fit_arena arena_;
};

/* The loss of a robust fit; loss linear: least squares. */
struct fit_score_loss {
    enum fit_loss loss;
    double f_scale;
    const struct fit_local_noise *local; /* ngroup: of the data, to tell outliers; or NULL */
};

/* obj: after value and normal (so that the tables contain derivatives), its lin at the optimum. D: the inverse of
 * J^T W J over (theta, unknowns), nparam + nu squared, by which the fit absorbs errors. fields: 1: field and moments
 * too (pairs). FIT_ERR_MEMORY. */
enum fit_status fit_scores_new(struct fit_objective *obj, const struct fit_score_loss *loss, const double *D,
                               int fields, struct fit_scores *s, struct fit_error *err);
void fit_scores_free(struct fit_scores *s);

static inline size_t fit_scores_first(const struct fit_scores *s)
{
    return s->P + s->P * s->P;
}

/* The column by which rows of a curve are neighbours: the first covariate; kernel->ncolumn: there is none. */
size_t fit_score_coordinate(const struct fit_kernel *k);

/* Index of the sum over blocks a <= b of group g. */
static inline double *fit_scores_at(const struct fit_scores *s, size_t g, size_t a, size_t b)
{
    size_t n = s->nblock, at = a * n - a * (a + 1) / 2 + b;
    return s->sum + (g * (n * (n + 1) / 2) + at) * s->P;
}

/* The same of field. */
static inline double *fit_fields_at(const struct fit_scores *s, size_t g, size_t a, size_t b)
{
    size_t n = s->nblock, at = a * n - a * (a + 1) / 2 + b;
    return s->field + (g * (n * (n + 1) / 2) + at) * (s->P + 1);
}

/* Weight of a value on top of the weight in the file. */
static inline double fit_score_factor(const struct fit_objective *o, size_t g)
{
    return o->weighting == FIT_WEIGHT_GROUP ? o->factor[g] : 1;
}

/* Index of element e of a score of group g among (theta, unknowns), or -1 when it is held. */
static inline long fit_score_unknown(const struct fit_objective *o, size_t g, size_t e)
{
    if (e < o->nparam)
        return (long)e;
    int u = o->map[g * o->nlinear + e - o->nparam];
    return u < 0 ? -1 : (long)o->nparam + u;
}
