/* minimise.c -- connects the optimizer and the objective: pixels of the mask, state files. */
#include "imaging/minimise.h"

#include <math.h>
#include <stdio.h>

#include "arrays/descent.h"
#include "imaging/planes.h"

enum fit_status fit_imaging_begin(struct fit_imaging_run *r, struct fit_error *err)
{
    const enum fit_status s = fit_imaging_prepare(r->q, err);
    const size_t n = r->q->unknowns;
    if (s != FIT_OK)
        return s;
    r->place = fit_take(&r->arena, n, sizeof *r->place);
    FIT_TAKE_DOUBLES(&r->arena, n, &r->full, &r->gradient, &r->x);
    if (r->arena.failed)
        return fit_no_memory(err, "fit");
    fit_imaging_start(r->q, r->full);
    for (size_t k = 0; k < n; k++)
        if (r->q->mask[k % r->q->n]) {
            r->x[r->n] = r->full[k];
            r->place[r->n++] = k;
        }
    return FIT_OK;
}

/* One line that identifies this problem, for state files. */
static const char *identity(struct fit_imaging_run *r)
{
    const struct fit_bound *b = r->q->bound;
    char text[1500];
    int at = snprintf(text, sizeof text, "%.16s %s %zux%zu", b->o->hash, r->q->obs->file, r->q->grid.ny, r->q->grid.nx);
    for (int i = 0; i < FIT_IMAGING_FREE; i++)
        if (fit_bound_place(b, fit_imaging_free_name[i]) != FIT_BOUND_NOWHERE)
            at += snprintf(text + at, sizeof text - (size_t)at, " %s", fit_imaging_free_name[i]);
    for (size_t c = 0; c < r->q->options->nmore && at < (int)sizeof text - 300; c++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %.200s", r->q->options->more[c]);
    for (uint32_t t = 0; t < b->o->nterm && at < (int)sizeof text - 64; t++)
        if (b->on >> t & 1)
            at += snprintf(text + at, sizeof text - (size_t)at, " %s=%.17g", b->o->term[t].name, b->weight[t]);
    return fit_arena_string(&r->arena, text);
}

static struct fit_descent descent_of(struct fit_imaging_run *r)
{
    return (struct fit_descent){.bound = r->q->bound,
                                .interrupt = r->interrupt,
                                .n = r->n,
                                .place = r->place,
                                .full = r->full,
                                .gradient = r->gradient,
                                .x = r->x};
}

enum fit_status fit_imaging_minimise(struct fit_imaging_run *r, const struct fit_imaging_options *o,
                                     struct fit_error *err)
{
    struct fit_descent d = descent_of(r);
    d.identity = identity(r);
    const enum fit_status s = fit_descend(&d,
                                          &(struct fit_descent_options){.optimizer = o->optimizer,
                                                                        .state = o->state,
                                                                        .maxiter = o->maxiter,
                                                                        .memory = o->memory,
                                                                        .maxls = o->maxls,
                                                                        .ftol = o->ftol,
                                                                        .gtol = o->gtol,
                                                                        .learning_rate = o->learning_rate},
                                          err);
    r->result = d.result;
    return s;
}

double fit_imaging_conclude(struct fit_imaging_run *r)
{
    struct fit_descent d = descent_of(r);
    return fit_descent_conclude(&d);
}

double fit_imaging_correlation(size_t n, const double *a, const double *b)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < n; k++) {
        ma += a[k] / (double)n;
        mb += b[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        aa += (a[k] - ma) * (a[k] - ma);
        bb += (b[k] - mb) * (b[k] - mb);
        ab += (a[k] - ma) * (b[k] - mb);
    }
    return ab / sqrt(aa * bb);
}
