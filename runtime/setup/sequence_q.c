/* sequence_q.c -- fits every q of a file alone; see sequence.h.
 *
 * A file of two-time matrices may hold several rings of q, each with its azimuths; a fit uses one of them. Here all are
 * fitted one after the other, each with its own data set and its own q among the settings. A property of the sample (a
 * diffusion coefficient) must come out the same for every q, within the errors.
 */
#include "setup/sequence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fit/fit.h"
#include "input/measurement.h"

/* Mean of linear parameter u over n groups, and its error from their covariance. */
static double mean_of(const struct fit_result *r, size_t n, size_t u, const double *covariance, double *std)
{
    double mean = 0, variance = 0;
    for (size_t g = 0; g < n; g++) {
        size_t e = r->nparam + g * r->nlinear + u;
        mean += r->lin[g * r->nlinear + u] / (double)n;
        for (size_t h = 0; covariance && h < n; h++)
            variance += covariance[e * r->nfull + r->nparam + h * r->nlinear + u] / (double)(n * n);
    }
    *std = covariance ? sqrt(fmax(variance, 0)) : NAN;
    return mean;
}

static void take(const struct fit_kernel *model, const struct fit_setup *s, size_t ngroup, const struct fit_result *r,
                 struct fit_sequence_row *row)
{
    const struct fit_linkage *link = s->link;
    const double *robust = fit_robust_given(&r->robust) ? r->covariance_robust : NULL;
    size_t p = model->nparam, m = p + model->nlinear;
    for (size_t e = 0; e < m; e++)
        row->value[e] = row->std[e] = row->robust[e] = NAN;
    for (size_t u = 0; u < r->nparam; u++) {
        size_t e = link ? link->of[u] : u;
        row->value[e] = r->theta[u];
        row->std[e] = r->std[u];
        row->robust[e] = robust ? r->std_robust[u] : NAN;
        row->at_bound[e] = r->at_bound[u];
    }
    for (size_t u = 0; !link && u < r->nlinear; u++) {
        row->value[p + u] = mean_of(r, ngroup, u, r->covariance, &row->std[p + u]);
        mean_of(r, ngroup, u, robust, &row->robust[p + u]);
    }
    for (size_t t = 0; link && t < link->ntied; t++) {
        size_t e = link->tied[t].inner;
        if (e >= p)
            continue; /* of single groups */
        row->value[e] = fit_linkage_value(link, t, r->theta, r->lin);
        row->std[e] = fit_linkage_std(link, t, r->covariance, r->nfull);
        if (robust)
            row->robust[e] = fit_linkage_std(link, t, robust, r->nfull);
    }
    fit_sequence_outcome(r, row);
}

static void choose_start(const struct fit_sequence_q *spec, size_t nparam, struct fit_setup *s)
{
    for (size_t u = 0; u < nparam && spec->joint->nparam == nparam; u++)
        if (!s->fixed[u])
            s->start[u] = fmin(fmax(spec->joint->theta[u], s->lower[u]), s->upper[u]);
    s->options.start_origin = "fit of another q";
    s->options.interrupt = spec->setup->options.interrupt;
}

static enum fit_status one(const struct fit_sequence_q *spec, double q, struct fit_sequence_row *row,
                           struct fit_error *err)
{
    struct fit_selection sel = *spec->sel;
    struct fit_measurement *m = NULL;
    struct fit_setup s = {0};
    struct fit_result r;
    sel.q = row->coord = q;
    enum fit_status st = fit_measurement_load(&sel, spec->model, spec->setting, &m, err);
    if (st == FIT_OK)
        st = fit_setup_options(spec->cfg, spec->model, m->dataset, m, &s, err);
    if (st == FIT_OK)
        st = fit_setup_links(spec->cfg, spec->model, m->dataset, 0, &s, err);
    const struct fit_kernel *k = s.link ? &s.link->kernel : spec->model;
    if (st == FIT_OK) {
        choose_start(spec, k->nparam, &s);
        st = fit_run(k, m->dataset, &s.options, &r, err);
    }
    if (st == FIT_OK) {
        take(spec->model, &s, m->dataset->layout.ngroup, &r, row);
        fit_result_free(&r);
    } else {
        snprintf(row->text, sizeof row->text, "%.250s", err->message);
    }
    fit_setup_free(&s);
    fit_measurement_free(m);
    return st == FIT_ERR_MEMORY || st == FIT_ERR_INTERRUPTED ? st : FIT_OK;
}

enum fit_status fit_sequence_every_q(const struct fit_sequence_q *spec, struct fit_sequence_result *out,
                                     struct fit_error *err)
{
    double begin = fit_seconds(), *q = NULL;
    size_t n = 0;
    *out = (struct fit_sequence_result){0};
    if (spec->setup->copies)
        return fit_fail(err, FIT_ERR_CONFIG, "sequence: of q with one value of a parameter for all angles only; "
                                             "leave out --share, or give --sequence angle");
    enum fit_status st = fit_select_every_q(spec->sel, &q, &n, err);
    int made = st == FIT_OK && (st = fit_sequence_new(n, spec->model, out, err)) == FIT_OK;
    for (size_t k = 0; k < n && st == FIT_OK; k++)
        st = one(spec, q[k], &out->row[k], err);
    out->axis = "q";
    out->seconds = fit_seconds() - begin;
    free(q);
    if (st != FIT_OK && made)
        fit_sequence_free(out);
    return st;
}
