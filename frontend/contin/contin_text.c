/* contin_text.c -- a distribution on the terminal, in 80 columns. */
#include "frontend/contin/contin_front.h"

#include "base/number_text.h"

#include <math.h>
#include <string.h>

enum { BAR = 36 };

/* The two ends of an interval, in ascending order of what is shown. */
static void ends(const struct contin_words *w, const double mean[3], double *lo, double *hi)
{
    const double a = contin_show(w, mean[1]), b = contin_show(w, mean[2]);
    *lo = fmin(a, b);
    *hi = fmax(a, b);
}

static void interval(char *text, size_t size, double lo, double hi, const char *format)
{
    char a[20], b[20];
    snprintf(a, sizeof a, format, lo); // NOLINT: the formats stand below
    snprintf(b, sizeof b, format, hi); // NOLINT
    if (isnan(lo) || isnan(hi))
        *text = '\0';
    else
        snprintf(text, size, "%s..%s", a, b);
}

/* Position of a mode that is cut off by an end of the grid: there, or beyond. */
static void beyond(const struct contin_job *j, const struct contin_peak *p, char *text, size_t size)
{
    const struct contin_result *r = &j->result;
    const double inner = contin_show(&j->words, j->u[p->at_edge < 0 ? p->last : p->first]),
                 other = contin_show(&j->words, j->u[p->at_edge < 0 ? 0 : r->n - 1]);
    snprintf(text, size, "%s %.4g, cut by the grid", other < inner ? "below" : "above", inner);
}

static void print_modes(FILE *f, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    char head[60];
    snprintf(head, sizeof head, "%s (%s)", contin_axis_name(j->words.axis), contin_axis_unit(j->words.axis));
    fprintf(f, "mode  %-38.38s weight  %-13s width\n", head, r->ndraw ? "(95 %)" : "");
    for (size_t k = 0; k < r->npeak; k++) {
        const struct contin_peak *p = &r->peak[k];
        char a[48], b[48];
        double lo, hi;
        ends(&j->words, p->mean, &lo, &hi);
        interval(a, sizeof a, lo, hi, "%.4g");
        interval(b, sizeof b, p->weight[1], p->weight[2], "%.3f");
        if (p->at_edge)
            beyond(j, p, a, sizeof a);
        char mean[24] = "", width[12] = "!";
        if (!p->at_edge) {
            snprintf(mean, sizeof mean, "%.5g", contin_show(&j->words, p->mean[0]));
            snprintf(width, sizeof width, "%.3f", p->width[0]);
        }
        fprintf(f, "%4zu  %-12s %-25s %6.4f  %-13s %s\n", k + 1, mean, a, p->weight[0], b, width);
    }
}

static void print_curves(FILE *f, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    for (size_t c = 0; c < r->ncurve; c++) {
        char v[2][32], e[2][32], q[40] = "";
        fit_format_error(r->contrast[c], r->contrast_error[c], v[0], sizeof v[0], e[0], sizeof e[0]);
        fit_format_error(r->baseline[c], r->baseline_error[c], v[1], sizeof v[1], e[1], sizeof e[1]);
        if (!isnan(j->data[c].q))
            snprintf(q, sizeof q, "q %.5g 1/angstrom", j->data[c].q);
        const char *name = strrchr(j->data[c].file, '/');
        fprintf(f, "%-14.14s %-22s %4zu values  contrast %s%s%s\n", name ? name + 1 : j->data[c].file, q, j->data[c].n,
                v[0], *e[0] ? " +- " : "", e[0]);
        if (j->words.free_baseline)
            fprintf(f, "%-51s baseline %s%s%s\n", "", v[1], *e[1] ? " +- " : "", e[1]);
    }
}

static void print_table(FILE *f, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    double all = 0, most = 0;
    for (size_t k = 0; k < r->n; k++) {
        all += r->x[k];
        most = fmax(most, r->x[k]);
    }
    fprintf(f, "%12s %8s %s\n", contin_axis_unit(j->words.axis), "part", r->ndraw ? "  95 %" : "");
    for (size_t k = 0; k < r->n; k++) {
        char bar[BAR + 1], range[48];
        const size_t length = (size_t)(BAR * r->x[k] / most + 0.5);
        memset(bar, '#', length);
        bar[length] = '\0';
        interval(range, sizeof range, r->lower[k], r->upper[k], "%.4f");
        fprintf(f, "%12.5g %8.4f %-16s %s\n", j->shown[k], r->x[k] / all, range, bar);
    }
}

void contin_print(FILE *f, const struct contin_job *j)
{
    static const char *const how[] = {"by evidence", "by the L-curve", "as given"};
    const struct contin_result *r = &j->result;
    print_curves(f, j);
    print_modes(f, j);
    if (j->words.table)
        print_table(f, j);
    fprintf(f, "smoothing %.3g %s", r->alpha, how[j->words.smoothing]);
    if (!isnan(r->alpha_range[0]))
        fprintf(f, " (95 %%: %.2g..%.2g)", r->alpha_range[0], r->alpha_range[1]);
    if (j->curve[0].sigma)
        fprintf(f, "; chi2 %.4g of %zu values\n", r->chi2, r->nvalue);
    else
        fprintf(f, "; noise %.3g of %zu values\n", 1 / sqrt(r->lambda), r->nvalue);
    if (j->words.output)
        fprintf(f, "written: %s/contin.json, contin.h5, contin.svg\n", j->words.output);
}
