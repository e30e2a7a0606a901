/* top.c -- `top`: the points of a survey that explain the data (ranking.h), and the frequency of each value of each
 * axis among them. */
#include "imaging/commands.h"

#include "imaging/ranking.h"

static void print_points(const struct fit_ranking *t, FILE *f)
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

/* Number of points in the Top Set with each value of an axis. */
static void print_axis(const struct fit_ranking *t, size_t axis, FILE *f)
{
    size_t all, in;
    fprintf(f, "\n  %s\n", t->axis[axis]);
    for (size_t p = 0; p < t->n; p++) {
        if (!fit_ranking_value(t, axis, p, &all, &in))
            continue;
        fprintf(f, "  %11g %8zu of %-8zu ", t->value[axis][p], in, all);
        for (size_t i = 0; i < 40 * in / all; i++)
            fputc('#', f);
        fputc('\n', f);
    }
}

enum fit_status fit_imaging_top(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    enum fit_status s = fit_h5_open(o->observation, &h, err);
    if (s != FIT_OK)
        return s;
    struct fit_ranking t = {.h = h, .threshold = o->threshold, .nthreshold = o->nthreshold};
    s = fit_ranking_read(&t, err);
    if (s == FIT_OK) {
        print_points(&t, p->out);
        for (size_t k = 0; k < t.naxis; k++)
            print_axis(&t, k, p->out);
    }
    fit_ranking_free(&t);
    fit_h5_close(h);
    return s;
}
