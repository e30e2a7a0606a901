/* top.c -- `top`: the points of a survey that explain the data, the best first.
 *
 * A point is in the Top Set when the optimizer converged or used up its iterations, and when the reduced chi2 of every
 * data term is at most its threshold: 2 where none is given, as in the surveys of EHT Collaboration 2019 (Paper IV).
 * The order is that of the largest |chi2 - 1|; equal ones stand in the order of the grid. */
#include "imaging/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5/reader.h"

struct ranked {
    size_t point;
    double worst;
};

struct top {
    const struct fit_h5 *h;
    const struct fit_imaging_options *o;
    size_t n, naxis, nterm, nbest;
    char **axis, **term; /* term: data terms */
    double **value, **chi2, *status, *J;
    struct ranked *best;
};

static enum fit_status read_column(const struct top *t, const char *group, const char *name, double **x,
                                   struct fit_error *err)
{
    char path[256];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", group, name);
    const enum fit_status s = fit_h5_read_doubles(t->h, path, x, &n, err);
    if (s == FIT_OK && n != t->n)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu elements, /J %zu", fit_h5_file(t->h), path, n, t->n);
    return s;
}

static int is_data(const struct top *t, const char *name)
{
    char path[256], *kind = NULL;
    snprintf(path, sizeof path, "/terms/%s", name);
    const int yes = fit_h5_read_attr_string(t->h, path, "kind", &kind, NULL) == FIT_OK && strcmp(kind, "data") == 0;
    free(kind);
    return yes;
}

static enum fit_status read_survey(struct top *t, struct fit_error *err)
{
    size_t nterm = 0;
    enum fit_status s = fit_h5_read_doubles(t->h, "/J", &t->J, &t->n, err);
    s = s == FIT_OK ? read_column(t, "", "status", &t->status, err) : s;
    s = s == FIT_OK ? fit_h5_list(t->h, "/grid", &t->axis, &t->naxis, err) : s;
    s = s == FIT_OK ? fit_h5_list(t->h, "/terms", &t->term, &nterm, err) : s;
    if (s != FIT_OK)
        return s;
    t->nterm = nterm;
    t->value = calloc(t->naxis + 1, sizeof *t->value);
    t->chi2 = calloc(t->nterm + 1, sizeof *t->chi2);
    t->best = calloc(t->n + 1, sizeof *t->best);
    if (!t->value || !t->chi2 || !t->best)
        return fit_no_memory(err, "top");
    for (size_t k = 0; s == FIT_OK && k < t->naxis; k++)
        s = read_column(t, "/grid", t->axis[k], &t->value[k], err);
    for (size_t k = 0; s == FIT_OK && k < t->nterm; k++)
        if (is_data(t, t->term[k]))
            s = read_column(t, "/terms", t->term[k], &t->chi2[k], err);
    return s;
}

static double threshold(const struct top *t, const char *term)
{
    for (size_t k = 0; k < t->o->nthreshold; k++)
        if (strcmp(t->o->threshold[k].name, term) == 0)
            return t->o->threshold[k].value;
    return 2;
}

static enum fit_status check_thresholds(const struct top *t, struct fit_error *err)
{
    for (size_t k = 0; k < t->o->nthreshold; k++) {
        size_t i = 0;
        while (i < t->nterm && (!t->chi2[i] || strcmp(t->term[i], t->o->threshold[k].name) != 0))
            i++;
        if (i == t->nterm)
            return fit_fail(err, FIT_ERR_USAGE, "--threshold: the survey has no data term '%s'",
                            t->o->threshold[k].name);
    }
    return FIT_OK;
}

static int by_worst(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->worst != y->worst ? (x->worst > y->worst) - (x->worst < y->worst)
                                : (x->point > y->point) - (x->point < y->point);
}

static void rank(struct top *t)
{
    for (size_t p = 0; p < t->n; p++) {
        int in = t->status[p] <= 2;
        double worst = 0;
        for (size_t k = 0; k < t->nterm; k++)
            if (t->chi2[k]) {
                in = in && t->chi2[k][p] <= threshold(t, t->term[k]);
                worst = fmax(worst, fabs(t->chi2[k][p] - 1));
            }
        if (in)
            t->best[t->nbest++] = (struct ranked){p, worst};
    }
    qsort(t->best, t->nbest, sizeof *t->best, by_worst);
}

static void print_points(const struct top *t, FILE *f)
{
    enum { MOST = 50 };
    fprintf(f, "%zu of %zu points are in the Top Set\n\n  %8s", t->nbest, t->n, "index");
    for (size_t k = 0; k < t->naxis; k++)
        fprintf(f, " %11s", t->axis[k]);
    for (size_t k = 0; k < t->nterm; k++)
        if (t->chi2[k])
            fprintf(f, " %11s", t->term[k]);
    fprintf(f, " %12s\n", "J");
    for (size_t i = 0; i < t->nbest && i < MOST; i++) {
        const size_t p = t->best[i].point;
        fprintf(f, "  %8zu", p);
        for (size_t k = 0; k < t->naxis; k++)
            fprintf(f, " %11g", t->value[k][p]);
        for (size_t k = 0; k < t->nterm; k++)
            if (t->chi2[k])
                fprintf(f, " %11.5f", t->chi2[k][p]);
        fprintf(f, " %12.6g\n", t->J[p]);
    }
    if (t->nbest > MOST)
        fprintf(f, "  ... and %zu more\n", t->nbest - MOST);
}

/* How many of the Top Set have each value of an axis. */
static void print_axis(const struct top *t, size_t axis, FILE *f)
{
    const double *x = t->value[axis];
    fprintf(f, "\n  %s\n", t->axis[axis]);
    for (size_t p = 0; p < t->n; p++) {
        size_t all = 0, in = 0, seen = 0;
        for (size_t q = 0; q < p && !seen; q++)
            seen = x[q] == x[p];
        if (seen)
            continue;
        for (size_t q = 0; q < t->n; q++)
            all += x[q] == x[p];
        for (size_t i = 0; i < t->nbest; i++)
            in += x[t->best[i].point] == x[p];
        fprintf(f, "  %11g %8zu of %-8zu ", x[p], in, all);
        for (size_t i = 0; all && i < 40 * in / all; i++)
            fputc('#', f);
        fputc('\n', f);
    }
}

static void release(struct top *t)
{
    for (size_t k = 0; t->value && k < t->naxis; k++)
        free(t->value[k]);
    for (size_t k = 0; t->chi2 && k < t->nterm; k++)
        free(t->chi2[k]);
    free(t->value);
    free(t->chi2);
    free(t->best);
    free(t->status);
    free(t->J);
    fit_h5_free_strings(t->axis, t->naxis);
    fit_h5_free_strings(t->term, t->nterm);
}

enum fit_status fit_imaging_top(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    enum fit_status s = fit_h5_open(o->observation, &h, err);
    if (s != FIT_OK)
        return s;
    struct top t = {.h = h, .o = o};
    s = read_survey(&t, err);
    s = s == FIT_OK ? check_thresholds(&t, err) : s;
    if (s == FIT_OK) {
        rank(&t);
        print_points(&t, p->out);
        for (size_t k = 0; k < t.naxis; k++)
            print_axis(&t, k, p->out);
    }
    release(&t);
    fit_h5_close(h);
    return s;
}
