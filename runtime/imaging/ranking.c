/* ranking.c -- see ranking.h. */
#include "imaging/ranking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fit_status read_column(const struct fit_ranking *t, const char *group, const char *name, double **x,
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

static int is_data(const struct fit_ranking *t, const char *name)
{
    char path[256], *kind = NULL;
    snprintf(path, sizeof path, "/terms/%s", name);
    const int yes = fit_h5_read_attr_string(t->h, path, "kind", &kind, NULL) == FIT_OK && strcmp(kind, "data") == 0;
    free(kind);
    return yes;
}

static enum fit_status read_survey(struct fit_ranking *t, struct fit_error *err)
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
        return fit_no_memory(err, "survey");
    for (size_t k = 0; s == FIT_OK && k < t->naxis; k++)
        s = read_column(t, "/grid", t->axis[k], &t->value[k], err);
    for (size_t k = 0; s == FIT_OK && k < t->nterm; k++)
        if (is_data(t, t->term[k]))
            s = read_column(t, "/terms", t->term[k], &t->chi2[k], err);
    return s;
}

double fit_ranking_threshold(const struct fit_ranking *t, const char *term)
{
    for (size_t k = 0; k < t->nthreshold; k++)
        if (strcmp(t->threshold[k].name, term) == 0)
            return t->threshold[k].value;
    return 2;
}

static enum fit_status check_thresholds(const struct fit_ranking *t, struct fit_error *err)
{
    for (size_t k = 0; k < t->nthreshold; k++) {
        size_t i = 0;
        while (i < t->nterm && (!t->chi2[i] || strcmp(t->term[i], t->threshold[k].name) != 0))
            i++;
        if (i == t->nterm)
            return fit_fail(err, FIT_ERR_USAGE, "--threshold: the survey has no data term '%s'",
                            t->threshold[k].name);
    }
    return FIT_OK;
}

static int by_worst(const void *a, const void *b)
{
    const struct fit_ranked *x = a, *y = b;
    return x->worst != y->worst ? (x->worst > y->worst) - (x->worst < y->worst)
                                : (x->point > y->point) - (x->point < y->point);
}

static void rank(struct fit_ranking *t)
{
    for (size_t p = 0; p < t->n; p++) {
        int in = t->status[p] <= 2;
        double worst = 0;
        for (size_t k = 0; k < t->nterm; k++)
            if (t->chi2[k]) {
                in = in && t->chi2[k][p] <= fit_ranking_threshold(t, t->term[k]);
                worst = fmax(worst, fabs(t->chi2[k][p] - 1));
            }
        if (in)
            t->best[t->nbest++] = (struct fit_ranked){p, worst};
    }
    qsort(t->best, t->nbest, sizeof *t->best, by_worst);
}

int fit_ranking_is_survey(const struct fit_h5 *h)
{
    return fit_h5_exists(h, "/J") && fit_h5_exists(h, "/grid") && fit_h5_exists(h, "/terms") &&
           fit_h5_exists(h, "/images");
}

enum fit_status fit_ranking_read(struct fit_ranking *t, struct fit_error *err)
{
    enum fit_status s = read_survey(t, err);
    s = s == FIT_OK ? check_thresholds(t, err) : s;
    if (s == FIT_OK)
        rank(t);
    return s;
}

int fit_ranking_value(const struct fit_ranking *t, size_t axis, size_t p, size_t *all, size_t *in)
{
    const double *x = t->value[axis];
    *all = *in = 0;
    for (size_t q = 0; q < p; q++)
        if (x[q] == x[p])
            return 0;
    for (size_t q = 0; q < t->n; q++)
        *all += x[q] == x[p];
    for (size_t i = 0; i < t->nbest; i++)
        *in += x[t->best[i].point] == x[p];
    return 1;
}

void fit_ranking_free(struct fit_ranking *t)
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
