/* scores.c -- scores of the values and tests of the residuals at the optimum, from one pass over the data: pairs
 * (scores_pairs.c) or rows of a table (scores_rows.c).
 */
#include "errors/scores.h"

#include <math.h>
#include <string.h>

#include "errors/scores_impl.h"
#include "leastsquares/robust_loss.h"

enum { DECILES = FIT_RESIDUAL_DECILES };

void fit_score_weights(const struct fit_score_loss *loss, size_t nvector, const double *y, const double *mean,
                       const double *v, double *w, double *room)
{
    const double one = 1;
    const struct fit_lanes lanes = {nvector, 1, y, mean, v, &one};
    if (loss->loss == FIT_LOSS_LINEAR)
        memcpy(w, v, nvector * FIT_LANES * sizeof *w);
    else
        fit_rho_weights(&lanes, loss->loss, loss->f_scale, 1, w, room);
}

size_t fit_score_coordinate(const struct fit_kernel *k)
{
    size_t c = 0;
    while (c < k->ncolumn && k->column[c].role != FIT_ROLE_COVARIATE)
        c++;
    return c;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void finish_test(const struct fit_score_sums *s, int pairs, struct fit_residual_test *t)
{
    double v = ratio(s->z2, s->n);
    t->neighbours = s->neighbours;
    t->kurtosis = ratio(s->z4, s->n) / (v * v);
    t->along_lag = ratio(s->lag, s->nlag) / v;
    t->along_age = pairs ? ratio(s->age, s->nage) / v : NAN;
    t->sharing = pairs ? ratio(s->share, s->nshare) / v : NAN;
    for (size_t k = 0; k < DECILES; k++)
        t->decile[k] = pairs ? ratio(s->decile[k], s->ndecile[k]) / v : NAN;
}

static int new_bins(struct fit_score_pass *p, struct fit_arena *a)
{
    struct fit_error none;
    if (fit_misfit_bins_new(&p->o->ds->layout, p->s->P, &p->bins, a, &none) != FIT_OK)
        return 0;
    p->binned = fit_take(a, fit_misfit_numbers(&p->bins), sizeof *p->binned);
    return p->binned != NULL;
}

static enum fit_status find_misfit(struct fit_score_pass *p, struct fit_error *err)
{
    struct fit_misfit_spec spec = {.obj = p->o, .bins = &p->bins, .sum = p->binned, .D = p->D};
    double sum[3] = {0};
    for (size_t g = 0; g < p->s->ngroup; g++) {
        const struct fit_score_sums *s = &p->sums[g];
        const double v = ratio(s->z2, s->n), of[3] = {s->lag, s->age, s->share}, n[3] = {s->nlag, s->nage, s->nshare};
        for (size_t k = 0; k < 3 && v > 0; k++) {
            sum[k] += of[k] / v;
            spec.products[k] += n[k];
        }
    }
    for (size_t k = 0; k < 3; k++)
        spec.rho[k] = ratio(sum[k], spec.products[k]);
    return fit_misfit_find(&spec, &p->s->misfit, err);
}

/* Sums by blocks, to which threads add as they come. */
static int new_sums(struct fit_scores *s, const struct fit_layout *l, int fields)
{
    s->length = (l->nframe + FIT_SCORE_BLOCKS - 1) / FIT_SCORE_BLOCKS;
    s->nblock = (l->nframe + s->length - 1) / s->length;
    const size_t places = s->ngroup * (s->nblock * (s->nblock + 1) / 2), first = s->ngroup * fit_scores_first(s);
    if (!fit_pages_new(&s->sum_, places * s->P + first))
        return 0;
    s->sum = s->sum_.data;
    s->first = s->sum + places * s->P;
    if (!fields)
        return 1;
    s->moments = fit_take(&s->arena_, s->ngroup, sizeof *s->moments);
    const int ok = s->moments && fit_pages_new(&s->field_, places * (s->P + 1));
    s->field = s->field_.data;
    return ok;
}

enum fit_status fit_scores_new(struct fit_objective *obj, const struct fit_score_loss *loss, const double *D,
                               int fields, struct fit_scores *s, struct fit_error *err)
{
    const struct fit_layout *l = &obj->ds->layout;
    int pairs = obj->kernel->space == FIT_PAIRS;
    *s = (struct fit_scores){.ngroup = obj->ngroup, .P = obj->nparam + obj->nlinear};
    struct fit_score_pass p = {.o = obj, .loss = loss, .D = D, .s = s};
    FIT_SCRATCH(scratch);
    int ok = !pairs || new_sums(s, l, fields);
    if (!pairs)
        s->product = fit_take(&s->arena_, s->ngroup * s->P * s->P, sizeof *s->product);
    s->test = fit_take(&s->arena_, s->ngroup, sizeof *s->test);
    p.sums = fit_take(&scratch, s->ngroup, sizeof *p.sums);
    ok = ok && (!pairs || new_bins(&p, &scratch)) && !scratch.failed && !s->arena_.failed;
    ok = ok && (pairs || fit_scores_of_rows(&p));
    enum fit_status st = ok ? fit_dataset_status(obj->ds, err)
                            : fit_no_memory(err, "fit, scores of the residuals");
    if (st == FIT_OK && pairs)
        st = fit_scores_of_pairs(&p, err);
    for (size_t g = 0; st == FIT_OK && g < s->ngroup; g++)
        finish_test(&p.sums[g], pairs, &s->test[g]);
    s->misfit.p = NAN;
    if (st == FIT_OK && pairs)
        st = find_misfit(&p, err);
    if (st != FIT_OK)
        fit_scores_free(s);
    return st;
}

void fit_scores_free(struct fit_scores *s)
{
    fit_pages_free(&s->sum_);
    fit_pages_free(&s->field_);
    fit_arena_free(&s->arena_);
    *s = (struct fit_scores){0};
}
