/* cmd_contin.c -- `contin`: the distribution of relaxation rates in g1 or g2, of one or several q. */
#include "frontend/contin/contin_front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_job(struct contin_job *j)
{
    for (size_t c = 0; c < j->ncurve; c++) {
        free(j->data[c].file);
        free(j->data[c].delay);
    }
    free(j->u);
    contin_result_free(&j->result);
    fit_notes_free(&j->notes);
    free(j);
}

/* q of every curve: of the file, else of the option, one for all or one for each. */
static enum fit_status give_q(struct contin_job *j, struct fit_error *err)
{
    struct contin_words *w = &j->words;
    if (w->nq > 1 && w->nq != j->ncurve)
        return fit_fail(err, FIT_ERR_USAGE, "%zu wavevectors are given for %zu correlation function%s", w->nq,
                        j->ncurve, j->ncurve > 1 ? "s" : "");
    int all = 1;
    for (size_t c = 0; c < j->ncurve; c++) {
        struct contin_data *d = &j->data[c];
        if (d->q_from_column && w->nq)
            return fit_fail(err, FIT_ERR_USAGE, "%s has a column q: no wavevector is to be given", d->file);
        if (w->nq)
            d->q = w->q[w->nq > 1 ? c : 0];
        all &= !isnan(d->q);
    }
    if (!w->axis_given && all && j->ncurve > 1)
        w->axis = CONTIN_DIFFUSION;
    if (!all && (w->axis != CONTIN_RATE || (j->ncurve > 1 && !w->axis_given)))
        return fit_fail(err, FIT_ERR_USAGE,
                        "the wavevectors are not known: --q, or --angle, --wavelength and --index, or a column q%s",
                        w->axis == CONTIN_RATE ? "; --axis rate when they are all the same" : "");
    return FIT_OK;
}

/* All curves must have errors, or none. */
static enum fit_status make_curves(struct contin_job *j, struct fit_error *err)
{
    size_t with = 0;
    for (size_t c = 0; c < j->ncurve; c++)
        with += j->data[c].sigma != NULL;
    if (with && with < j->ncurve)
        return fit_fail(err, FIT_ERR_DATA, "only %zu of %zu files have a column sigma: all must have one, or none",
                        with, j->ncurve);
    if (!with)
        fit_notes_add(&j->notes, "no column of errors: they are taken as equal and estimated");
    size_t all = 0;
    for (size_t c = 0; c < j->ncurve; c++) {
        const struct contin_data *d = &j->data[c];
        j->curve[c] = (struct contin_curve){.n = d->n,
                                            .delay = d->delay,
                                            .y = d->y,
                                            .sigma = d->sigma,
                                            .scale = j->words.axis == CONTIN_RATE ? 1 : d->q * d->q};
        all += d->n;
        if (d->n < 4)
            return fit_fail(err, FIT_ERR_DATA, "%s: %zu rows can be used; at least 4 are needed", d->file, d->n);
    }
    if (all > 20000)
        return fit_fail(err, FIT_ERR_DATA,
                        "%zu values; at most 20000 can be taken: delays in equal steps of their "
                        "logarithm say as much",
                        all);
    return FIT_OK;
}

/* Equal steps of the logarithm: from a fifth of the rate that the longest delay shows to twice that of the shortest. */
static enum fit_status make_grid(struct contin_job *j, struct fit_error *err)
{
    const size_t n = (size_t)j->words.points;
    const double *range = j->words.range;
    double lo = INFINITY, hi = 0;
    for (size_t c = 0; c < j->ncurve; c++)
        for (size_t k = 0; k < j->data[c].n; k++) {
            const double rate = 1 / (j->data[c].delay[k] * j->curve[c].scale);
            lo = fmin(lo, 0.2 * rate);
            hi = fmax(hi, 2 * rate);
        }
    if (!isnan(range[0])) {
        const int radius = j->words.axis == CONTIN_RADIUS;
        const double one = contin_show(&j->words, 1); /* the radius of D = 1 */
        lo = radius ? one / range[1] : range[0];
        hi = radius ? one / range[0] : range[1];
    }
    if (!isfinite(lo) || !isfinite(hi) || !(lo > 0) || !(hi > lo))
        return fit_fail(err, FIT_ERR_DATA, "the delays give no range of decay rates; --range says one");
    j->u = calloc(2 * n, sizeof *j->u);
    if (!j->u)
        return fit_no_memory(err, "the grid");
    j->shown = j->u + n;
    for (size_t k = 0; k < n; k++) {
        j->u[k] = exp(log(lo) + (log(hi) - log(lo)) * (double)k / (double)(n - 1));
        j->shown[k] = contin_show(&j->words, j->u[k]);
    }
    if (2 * j->ncurve > n)
        return fit_fail(err, FIT_ERR_USAGE, "--points: %zu are too few for %zu correlation functions", n, j->ncurve);
    return FIT_OK;
}

static void doubt(struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    const double per = r->chi2 / (double)r->nvalue;
    const char *name = contin_axis_name(j->words.axis);
    if (j->words.draws && !r->ndraw)
        fit_notes_add(&j->notes, "the smoothing %.3g is too weak for these data: no errors can be given", r->alpha);
    if (j->curve[0].sigma && per > 2)
        fit_notes_add(&j->notes,
                      "chi2 is %.3g a value: errors are larger than told, or the model does not hold (a "
                      "baseline? --baseline free); the intervals are too short",
                      per);
    if (j->curve[0].sigma && per < 0.3)
        fit_notes_add(&j->notes, "chi2 is %.3g a value: errors are smaller than told; the intervals are too long", per);
    for (size_t k = 0; k < r->npeak; k++)
        if (r->peak[k].at_edge)
            fit_notes_add(
                &j->notes,
                "mode %zu is cut by the end of the grid, so that it has no mean: --range LOW:HIGH of the %s, or a "
                "baseline",
                k + 1, name);
}

static enum fit_status solve(struct contin_job *j, struct fit_error *err)
{
    const struct contin_words *w = &j->words;
    j->problem = (struct contin_problem){.ncurve = j->ncurve,
                                         .curve = j->curve,
                                         .power = w->power,
                                         .free_baseline = w->free_baseline,
                                         .n = (size_t)w->points,
                                         .u = j->u,
                                         .smoothing = w->smoothing,
                                         .alpha = w->alpha,
                                         .draws = (size_t)w->draws,
                                         .seed = (uint64_t)w->seed};
    enum fit_status st = contin_solve(&j->problem, &j->result, err);
    if (st == FIT_OK)
        doubt(j);
    return st;
}

static enum fit_status tell(struct contin_job *j, const struct front_args *a, struct fit_error *err)
{
    enum fit_status st = j->words.output ? contin_write(j, err) : FIT_OK;
    for (size_t k = 0; st == FIT_OK && !a->quiet && k < j->notes.n; k++)
        fprintf(j->f->err, "homodyne: note: %s\n", j->notes.text[k]);
    if (st != FIT_OK)
        return st;
    if (a->json) {
        struct fit_json text = {0};
        contin_json(&text, j);
        return fit_json_put(&text, j->f->out) == 0 ? FIT_OK : fit_no_memory(err, "the result");
    }
    if (!a->quiet)
        contin_print(j->f->out, j);
    return FIT_OK;
}

enum fit_status front_cmd_contin(struct front *f, const struct front_args *a, struct fit_error *err)
{
    if (a->nrest == 0)
        return fit_fail(err, FIT_ERR_USAGE,
                        "contin: a table of a correlation function is missing: delay, g2 or g1, sigma");
    struct contin_job *j = calloc(1, sizeof *j);
    if (!j)
        return fit_no_memory(err, "contin");
    j->f = f;
    enum fit_status st = contin_read_words(a, &j->words, err);
    for (size_t k = 0; k < a->nrest && st == FIT_OK; k++)
        st = contin_read_file(j, a->rest[k], err);
    if (st == FIT_OK)
        st = give_q(j, err);
    if (st == FIT_OK)
        st = make_curves(j, err);
    if (st == FIT_OK)
        st = make_grid(j, err);
    if (st == FIT_OK)
        st = solve(j, err);
    if (st == FIT_OK)
        st = tell(j, a, err);
    free_job(j);
    return st;
}
