/* cmd_compare.c -- `compare`: two results side by side, differences in standard deviations.
 *
 * Two fits of different data have independent errors: the difference d has the deviation
 * sqrt(s1^2 + s2^2).  Two fits of the same data (equal SHA-256) share their noise; there the larger
 * of the two deviations is the yardstick, and what differs comes from settings or programs alone.
 * A parameter that was held has no deviation; one of which an interval is told instead counts that of 95 % toward the
 * other value, divided by 1.96; one that was not determined at all is left out.
 * Exit status 0: all parameters agree within the limit; 2: one does not. */
#include "front.h"
#include "result.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    const struct front_result *r[2];
    int same_data;
    double limit;
    size_t ncompared, nbeyond, nunknown, nonly; /* nonly: in one of the two only */
};

/* Names that differ between packages. */
static const char *other_name(const char *name)
{
    static const char *const pairs[][2] = {{"beta", "v_beta"},
                                           {"phi0", "phi0_het"},
                                           {"gamma_dot_t0", "gamma_dot_0"},
                                           {"gamma_dot_t_offset", "gamma_dot_offset"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (size_t s = 0; s < 2; s++)
            if (strcmp(name, pairs[k][s]) == 0)
                return pairs[k][1 - s];
    return name;
}

static const struct front_param *partner(const struct front_result *r, const char *name)
{
    const struct front_param *p = front_result_param(r, name);
    return p ? p : front_result_param(r, other_name(name));
}

/* Standard deviation toward side (+, -); a parameter that was held has none. */
static double deviation(const struct front_param *p, double side)
{
    if (p->fixed || !p->interval || (isnan(p->lower95) && isnan(p->upper95)))
        return p->fixed ? 0 : p->std;
    const double end = side > 0 ? p->upper95 : p->lower95;
    return isnan(end) ? INFINITY : fabs(end - p->value) / 1.96;
}

/* Difference in standard deviations; NaN: one of the two was not determined. */
static double in_sigma(const struct comparison *c, const struct front_param *a,
                       const struct front_param *b)
{
    const double d = b->value - a->value, sa = deviation(a, d), sb = deviation(b, -d);
    if (d == 0)
        return 0;
    if (isnan(sa) || isnan(sb)) /* fmax would take the other one */
        return NAN;
    const double s = c->same_data ? fmax(sa, sb) : hypot(sa, sb);
    return s > 0 ? d / s : copysign(INFINITY, d);
}

/* What is not determined cannot differ. */
static void count(struct comparison *c, double z)
{
    if (isnan(z))
        c->nunknown++;
    else
        c->ncompared++;
    if (fabs(z) > c->limit)
        c->nbeyond++;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_number(FILE *f, double value, double std)
{
    char text[48], error[24] = "";
    if (std > 0)
        snprintf(error, sizeof error, "+- %.2g", std);
    snprintf(text, sizeof text, "%.6g", value);
    fprintf(f, " %12s %-11s", text, error);
}

static void put_row(FILE *f, struct comparison *c, const struct front_param *a,
                    const struct front_param *b)
{
    const double z = in_sigma(c, a, b);
    count(c, z);
    fprintf(f, "  %-18.18s", a->name);
    put_number(f, a->value, a->std);
    put_number(f, b->value, b->std);
    if (isnan(z))
        fprintf(f, "       ?\n");
    else
        fprintf(f, " %7.1f%s\n", z, fabs(z) > c->limit ? " !" : "");
}

static void put_figure(FILE *f, const char *name, double a, double b, const char *format)
{
    char text[2][32];
    if (isnan(a) && isnan(b))
        return;
    for (size_t k = 0; k < 2; k++) {
        const double x = k ? b : a;
        text[k][0] = '\0';
        if (!isnan(x))
            snprintf(text[k], sizeof text[k], format, x); // NOLINT: the formats stand below
    }
    fprintf(f, "  %-18s %12s %-11s %12s\n", name, text[0], "", text[1]);
}

static void print_text(FILE *f, struct comparison *c, const char *const label[2], int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    fprintf(f, "%-20s %-24.24s %-24.24s   sigma\n", c->same_data ? "same data" : "", label[0],
            label[1]);
    for (size_t k = 0; k < a->nparam; k++) {
        const struct front_param *p = &a->param[k], *q = partner(b, p->name);
        if (!p->physical && !all)
            continue;
        if (q)
            put_row(f, c, p, q);
        else
            c->nonly++, fprintf(f, "  %-18.18s %12.6g %-11s %12s\n", p->name, p->value, "", "-");
    }
    for (size_t k = 0; k < b->nparam; k++)
        if ((b->param[k].physical || all) && !partner(a, b->param[k].name))
            c->nonly++, fprintf(f, "  %-18.18s %12s %-11s %12.6g\n", b->param[k].name, "-", "",
                                b->param[k].value);
    put_figure(f, "chi2/dof", a->reduced_chi2, b->reduced_chi2, "%.5g");
    put_figure(f, "noise", a->sigma, b->sigma, "%.5g");
    put_figure(f, "points", a->npoint, b->npoint, "%.0f");
    put_figure(f, "seconds", a->wall_seconds, b->wall_seconds, "%.3g");
    fprintf(f, "  %-18s %24.24s %24.24s\n", "status", a->status, b->status);
}

static void print_verdict(FILE *f, const struct comparison *c)
{
    if (c->same_data)
        fprintf(f, "the same data: what differs comes from settings or programs, not from noise\n");
    if (c->nunknown)
        fprintf(f, "%zu parameter%s not determined in one of the two (?)\n", c->nunknown,
                c->nunknown > 1 ? "s" : "");
    if (c->nonly)
        fprintf(f, "%zu parameter%s in one of the two only\n", c->nonly, c->nonly > 1 ? "s" : "");
    if (c->nbeyond)
        fprintf(f, "DIFFERENT: %zu of %zu parameters beyond %g standard deviations\n", c->nbeyond,
                c->ncompared, c->limit);
    else
        fprintf(f, "AGREE: %zu parameters within %g standard deviations\n", c->ncompared, c->limit);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static enum fit_status print_json(FILE *f, struct comparison *c, int all, struct fit_error *err)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_begin(&j, "parameters", '{');
    for (size_t k = 0; k < c->r[0]->nparam; k++) {
        const struct front_param *p = &c->r[0]->param[k], *q = partner(c->r[1], p->name);
        if (!q || (!p->physical && !all))
            continue;
        const double z = in_sigma(c, p, q);
        count(c, z);
        fit_json_begin(&j, p->name, '{');
        fit_json_numbers(&j, "value", (double[]){p->value, q->value}, 2);
        fit_json_numbers(&j, "std", (double[]){p->std, q->std}, 2);
        fit_json_number(&j, "difference", q->value - p->value);
        fit_json_number(&j, "sigma", z);
        fit_json_end(&j);
    }
    fit_json_end(&j);
    fit_json_numbers(&j, "reduced_chi2", (double[]){c->r[0]->reduced_chi2, c->r[1]->reduced_chi2},
                     2);
    fit_json_boolean(&j, "same_data", c->same_data);
    fit_json_number(&j, "limit", c->limit);
    fit_json_integer(&j, "beyond", (int64_t)c->nbeyond);
    fit_json_boolean(&j, "agree", c->nbeyond == 0 && c->ncompared > 0);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    if (text)
        fprintf(f, "%s\n", text);
    fit_json_free(&j);
    return text ? FIT_OK : fit_fail(err, FIT_ERR_MEMORY, "out of memory");
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum fit_status get_limit(const struct front_args *a, double *limit, struct fit_error *err)
{
    const char *text = front_value(a, "sigma");
    char *end;
    *limit = 3;
    if (!text)
        return FIT_OK;
    *limit = strtod(text, &end);
    if (end == text || *end || !(*limit > 0) || !isfinite(*limit))
        return fit_fail(err, FIT_ERR_USAGE, "--sigma: '%s' is not a number above 0", text);
    return FIT_OK;
}

enum fit_status front_cmd_compare(struct front *f, const struct front_args *a,
                                  struct fit_error *err)
{
    struct front_result one = {0}, two = {0};
    struct comparison c = {.r = {&one, &two}};
    enum fit_status st = get_limit(a, &c.limit, err);
    if (st == FIT_OK && a->nrest != 2)
        st = fit_fail(err, FIT_ERR_USAGE, "compare: two results are wanted: homodyne compare A B");
    if (st == FIT_OK)
        st = front_result_read(a->rest[0], &one, err);
    if (st == FIT_OK)
        st = front_result_read(a->rest[1], &two, err);
    if (st != FIT_OK)
        goto done;
    c.same_data = one.data_sha256[0] && strcmp(one.data_sha256, two.data_sha256) == 0;
    const char *const label[2] = {a->rest[0], a->rest[1]};
    FILE *out = front_given(a, "quiet") ? NULL : f->out;
    if (front_given(a, "json")) {
        st = print_json(f->out, &c, front_given(a, "all"), err);
    } else if (out) {
        print_text(out, &c, label, front_given(a, "all"));
        print_verdict(out, &c);
    } else {
        for (size_t k = 0; k < one.nparam; k++) {
            const struct front_param *q = partner(&two, one.param[k].name);
            if (q && (one.param[k].physical || front_given(a, "all")))
                count(&c, in_sigma(&c, &one.param[k], q));
        }
    }
    if (st == FIT_OK && c.ncompared == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s and %s have no parameter in common", a->rest[0],
                      a->rest[1]);
    f->exit_code = c.nbeyond ? 2 : 0;
done:
    front_result_free(&one);
    front_result_free(&two);
    return st;
}
