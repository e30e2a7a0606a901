/* cmd_compare.c -- `compare`: two results side by side, differences in standard deviations.
 *
 * For a result with a posterior its mean and standard deviation are used, otherwise least squares with the robust
 * error, if there is one; the head of the table names the source. Two fits of different data have independent
 * errors: the difference d has the deviation sqrt(s1^2 + s2^2). Two fits of the same data (equal SHA-256) share
 * their noise; then differences are measured in units of the larger of the two deviations, and come only from
 * settings or programs. A fixed parameter has no deviation. If a parameter has an interval instead, its 95 % end
 * toward the other value, divided by 1.96, counts; undetermined parameters are left out. Only parameters of the same
 * name and unit, of the same model, are the same quantity: those of different models stand side by side, and are not
 * compared. Information criteria (criteria.c) show which of two models the data prefer; for two posteriors so does
 * the prediction of rows (loo.c). Exit status 0: all parameters agree within the limit; 2: one does not, or the
 * models are different. */
#include "base/command_line.h"
#include "base/number_text.h"
#include "frontend/compare.h"

#include "config/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A result that does not name its model is accepted; results of a package do not distinguish the static ones. */
static int same_model(const struct front_result *a, const struct front_result *b)
{
    const char *x = fit_config_canonical_mode(a->model), *y = fit_config_canonical_mode(b->model);
    return !*x || !*y || strcmp(x, y) == 0 || ((a->package || b->package) && fit_config_same_mode(x, y));
}

const struct front_param *comparison_partner(const struct comparison *c, size_t of, const char *name)
{
    const struct front_param *p = front_result_param(c->r[of], name);
    return p || !c->same_model ? p : front_result_param(c->r[of], other_name(name));
}

/* ---- estimates ------------------------------------------------------------------------------- */

static const char *estimate_of(const struct front_result *r)
{
    if (r->sampled)
        return "posterior mean +- sd";
    for (size_t k = 0; k < r->nparam; k++)
        if (!isnan(r->param[k].std_robust))
            return "least squares +- robust";
    return "least squares +- error";
}

/* Standard deviation toward side (+, -); a fixed parameter has none. */
static double deviation(const struct front_result *r, const struct front_param *p, double side)
{
    if (p->fixed)
        return 0;
    if (r->sampled || !p->interval || (isnan(p->lower95) && isnan(p->upper95)))
        return front_error(r, p);
    const double end = side > 0 ? p->upper95 : p->lower95;
    return isnan(end) ? INFINITY : fabs(end - p->value) / 1.96;
}

/* Difference in standard deviations; NaN: one of the two was not determined. */
double comparison_sigma(const struct comparison *c, const struct front_param *a, const struct front_param *b)
{
    const double d = front_estimate(c->r[1], b) - front_estimate(c->r[0], a);
    if (isnan(d))
        return NAN;
    const double sa = deviation(c->r[0], a, d), sb = deviation(c->r[1], b, -d);
    if (d == 0)
        return 0;
    if (isnan(sa) || isnan(sb)) /* fmax would take the other one */
        return NAN;
    const double s = c->same_data ? fmax(sa, sb) : hypot(sa, sb);
    return s > 0 ? d / s : copysign(INFINITY, d);
}

/* Undetermined parameters cannot differ. */
static void count(struct comparison *c, double z)
{
    if (isnan(z))
        c->nunknown++;
    else
        c->ncompared++;
    if (fabs(z) > c->limit)
        c->nbeyond++;
}

int comparison_same_unit(const struct front_param *a, const struct front_param *b)
{
    return !a->unit[0] || !b->unit[0] || strcmp(a->unit, b->unit) == 0; /* packages tell none */
}

int comparison_shown(const struct front_param *p, int all)
{
    return p->physical || all;
}

static void count_all(struct comparison *c, int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    for (size_t k = 0; k < a->nparam; k++) {
        const struct front_param *p = &a->param[k], *q = comparison_partner(c, 1, p->name);
        if (!comparison_shown(p, all))
            continue;
        if (!q)
            c->nonly++;
        else if (!comparison_same_unit(p, q))
            c->nunit++;
        else if (c->same_model)
            count(c, comparison_sigma(c, p, q));
    }
    for (size_t k = 0; k < b->nparam; k++)
        c->nonly += comparison_shown(&b->param[k], all) && !comparison_partner(c, 0, b->param[k].name);
}

int comparison_differs(const struct comparison *c)
{
    return c->nbeyond || c->nunit || !c->same_model;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_number(FILE *f, const struct front_result *r, const struct front_param *p)
{
    char text[48] = "-", error[48] = "";
    if (p && !isnan(front_estimate(r, p))) /* a tied one has no draws */
        fit_format_error(front_estimate(r, p), front_error(r, p), text, sizeof text, error, sizeof error);
    fprintf(f, " %12s %s %-8s", text, error[0] ? "+-" : "  ", error);
}

/* p or q may be NULL: in one of the two only. */
static void put_row(FILE *f, const struct comparison *c, const char *name, const struct front_param *p,
                    const struct front_param *q)
{
    fprintf(f, "  %-18.18s", name);
    put_number(f, c->r[0], p);
    put_number(f, c->r[1], q);
    if (p && q && !comparison_same_unit(p, q))
        fprintf(f, "   units");
    else if (p && q && c->same_model) {
        const double z = comparison_sigma(c, p, q);
        if (isnan(z))
            fprintf(f, "       ?");
        else
            fprintf(f, " %7.1f%s", z, fabs(z) > c->limit ? " !" : "");
    }
    fputc('\n', f);
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

static void put_words(FILE *f, const char *name, const char *a, const char *b)
{
    fprintf(f, "  %-18s %24.24s %24.24s\n", name, a, b);
}

static void put_loo(FILE *f, const struct front_loo *x)
{
    fprintf(f, "  %-18s %12.2f +- %-8.2f %12.2f +- %-8.2f\n", "elpd (LOO)", x->elpd[0], x->se[0], x->elpd[1], x->se[1]);
    if (x->unreliable[0] + x->unreliable[1] > 0)
        put_figure(f, "rows with large k", (double)x->unreliable[0], (double)x->unreliable[1], "%.0f");
}

static void print_text(FILE *f, const struct comparison *c, const char *const label[2], int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    fprintf(f, "%-20s %-24.24s %-24.24s   sigma\n", c->same_data ? "same data" : "", label[0], label[1]);
    fprintf(f, "%-20s %-24s %s\n", "", estimate_of(a), estimate_of(b));
    for (size_t k = 0; k < a->nparam; k++)
        if (comparison_shown(&a->param[k], all))
            put_row(f, c, a->param[k].name, &a->param[k], comparison_partner(c, 1, a->param[k].name));
    for (size_t k = 0; k < b->nparam; k++)
        if (comparison_shown(&b->param[k], all) && !comparison_partner(c, 0, b->param[k].name))
            put_row(f, c, b->param[k].name, NULL, &b->param[k]);
    put_figure(f, "chi2/dof", a->reduced_chi2, b->reduced_chi2, "%.5g");
    put_figure(f, "noise", a->sigma, b->sigma, "%.5g");
    put_figure(f, "points", a->npoint, b->npoint, "%.0f");
    if (c->ranked) {
        const struct front_criteria *x = &c->criteria[0], *y = &c->criteria[1];
        put_figure(f, x->nparam > a->nfree ? "parameters, noise" : "parameters", x->nparam, y->nparam, "%.0f");
        put_figure(f, x->what, x->minus_two_log_l, y->minus_two_log_l, "%.2f");
        if (c->choice.correlated) {
            put_figure(f, "values that count", x->nparam > 0 ? c->choice.eta * a->npoint : NAN,
                       c->choice.eta * b->npoint, "%.0f");
            put_figure(f, "CLIC", x->clic, y->clic, "%.2f");
        } else {
            put_figure(f, "AIC", x->aic, y->aic, "%.2f");
            put_figure(f, "BIC", x->bic, y->bic, "%.2f");
        }
    }
    put_figure(f, "log evidence", a->log_evidence, b->log_evidence, "%.2f");
    if (c->loo.nrow)
        put_loo(f, &c->loo);
    put_figure(f, "seconds", a->wall_seconds, b->wall_seconds, "%.3g");
    if (!c->same_model)
        put_words(f, "model", a->model, b->model);
    put_words(f, "status", a->status, b->status);
    if (a->posterior[0] || b->posterior[0])
        put_words(f, "posterior", a->posterior, b->posterior);
}

static void put_count(FILE *f, size_t n, const char *text)
{
    if (n)
        fprintf(f, "%zu parameter%s %s\n", n, n > 1 ? "s" : "", text);
}

/* Values that are not independent. */
static void print_choice(FILE *f, const struct comparison *c, const char *const label[2])
{
    const struct front_choice *x = &c->choice;
    const int larger = c->criteria[1].nparam > c->criteria[0].nparam;
    const double more = fabs(c->criteria[1].nparam - c->criteria[0].nparam);
    char gain[160];
    snprintf(gain, sizeof gain, "its further parameter%s gain%s as much by chance with probability %.2g",
             more > 1 ? "s" : "", more > 1 ? "" : "s", x->p);
    if (x->better < 0)
        fprintf(f, "the data do not decide between them: of %.40s\n  %s\n", label[larger], gain);
    else if (x->better == larger)
        fprintf(f, "CLIC prefers %.40s by %.1f:\n  %s\n", label[larger],
                fabs(c->criteria[1].clic - c->criteria[0].clic), gain);
    else
        fprintf(f, "the data do not need %.40s:\n  %s\n", label[larger], gain);
    fprintf(f, "residuals are correlated: %.2g of the values count as independent\n", x->eta);
}

static void print_evidence(FILE *f, const struct comparison *c, const char *const label[2])
{
    if (!isnan(c->bayes))
        fprintf(f, "evidence prefers %.40s by a factor of %.3g\n", label[c->bayes > 0], exp(fabs(c->bayes)));
    else if (c->no_bayes[0])
        fprintf(f, "evidence is not compared:\n  %s\n", c->no_bayes);
}

/* A difference below two standard errors, or below 4, may be chance (Sivula et al., arXiv:2008.10296). */
static void print_loo(FILE *f, const struct comparison *c, const char *const label[2])
{
    const struct front_loo *x = &c->loo;
    const double d = fabs(x->difference);
    if (!x->nrow && c->no_loo[0])
        fprintf(f, "leave-one-out cross-validation is not compared:\n  %s\n", c->no_loo);
    if (!x->nrow)
        return;
    fprintf(f, "LOO prefers %.40s by %.1f +- %.1f%s\n", label[x->difference > 0], d, x->difference_se,
            d < 4 || d < 2 * x->difference_se ? " (may be chance)" : "");
    for (int k = 0; k < 2; k++)
        if (x->unreliable[k])
            fprintf(f, "  its weights of %.32s are not reliable in %zu of %zu rows:\n  Pareto k above %.2g\n", label[k],
                    x->unreliable[k], x->nrow, x->threshold[k]);
}

/* "AIC prefers A by 12.3, BIC prefers B by 1.2" */
static void print_criteria(FILE *f, const struct comparison *c, const char *const label[2])
{
    const struct front_criteria *x = c->criteria;
    const int told = !c->same_model || (c->same_data && c->r[0]->nfree != c->r[1]->nfree);
    if (!c->ranked && told)
        fprintf(f, "AIC and BIC cannot tell which model is better:\n  %s\n", c->why_not);
    if (told) {
        print_evidence(f, c, label);
        print_loo(f, c, label);
    }
    if (!c->ranked || (c->same_model && x[0].nparam == x[1].nparam))
        return;
    if (c->choice.correlated) {
        print_choice(f, c, label);
        return;
    }
    fprintf(f, "AIC prefers %.40s by %.1f\n", label[x[1].aic < x[0].aic], fabs(x[1].aic - x[0].aic));
    fprintf(f, "BIC prefers %.40s by %.1f (2: hardly, 10: very strongly)\n", label[x[1].bic < x[0].bic],
            fabs(x[1].bic - x[0].bic));
}

void comparison_verdict(FILE *f, const struct comparison *c, const char *const label[2])
{
    print_criteria(f, c, label);
    if (c->same_data && c->same_model)
        fprintf(f, "the same data: what differs comes from %s, not from noise\n",
                c->r[0]->sampled != c->r[1]->sampled ? "estimates or settings" : "settings or programs");
    put_count(f, c->nunknown, "not determined or not told in one of the two (?)");
    put_count(f, c->nonly, "in one of the two only");
    put_count(f, c->nunit, "in different units");
    if (!c->same_model)
        fprintf(f, "DIFFERENT: the models are %s and %s; their parameters are\n  not compared\n", c->r[0]->model,
                c->r[1]->model);
    else if (comparison_differs(c))
        fprintf(f, "DIFFERENT: %zu of %zu parameters beyond %g standard deviations\n", c->nbeyond, c->ncompared,
                c->limit);
    else
        fprintf(f, "AGREE: %zu parameters within %g standard deviations\n", c->ncompared, c->limit);
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum fit_status get_limit(const struct front_args *a, double *limit, struct fit_error *err)
{
    const char *text = option_value(&a->own, "sigma");
    *limit = 3;
    return text ? fit_options_real("sigma", text, OPTION_POSITIVE, limit, err) : FIT_OK;
}

static enum fit_status tell(struct front *f, const struct front_args *a, const struct comparison *c,
                            struct fit_error *err)
{
    const int all = option_given(&a->own, "all");
    const char *const label[2] = {a->rest[0], a->rest[1]};
    if (option_given(&a->own, "json") && !option_given(&a->own, "report"))
        return comparison_json(f->out, c, all, err);
    if (!option_given(&a->own, "quiet") && !option_given(&a->own, "page")) {
        print_text(f->out, c, label, all);
        comparison_verdict(f->out, c, label);
    }
    return FIT_OK;
}

enum fit_status front_cmd_compare(struct front *f, const struct front_args *a,
                                  struct fit_error *err)
{
    struct front_result one = {0}, two = {0};
    struct comparison c = {.r = {&one, &two}};
    enum fit_status st = get_limit(a, &c.limit, err);
    if (st == FIT_OK && a->nrest != 2)
        st = fit_fail(err, FIT_ERR_USAGE, "compare: give two results: homodyne compare A B");
    if (st == FIT_OK)
        st = front_result_read(a->rest[0], &one, err);
    if (st == FIT_OK)
        st = front_result_read(a->rest[1], &two, err);
    if (st != FIT_OK)
        goto done;
    c.same_data = one.data_sha256[0] && strcmp(one.data_sha256, two.data_sha256) == 0;
    c.same_model = same_model(&one, &two);
    c.ranked = front_criteria(c.r, c.same_data, c.criteria, &c.choice, c.why_not, sizeof c.why_not);
    c.bayes = front_bayes_factor(c.r, c.same_data, c.no_bayes, sizeof c.no_bayes);
    st = front_loo(c.r, c.same_data, &c.loo, c.no_loo, sizeof c.no_loo, err);
    if (st != FIT_OK)
        goto done;
    count_all(&c, option_given(&a->own, "all"));
    st = tell(f, a, &c, err);
    if (st == FIT_OK && c.ncompared == 0 && !comparison_differs(&c))
        st = fit_fail(err, FIT_ERR_DATA, "%s and %s have no parameter in common", a->rest[0],
                      a->rest[1]);
    if (st == FIT_OK && option_given(&a->own, "report"))
        st = comparison_page(f, &c, a->rest, a, err);
    if (f->exit_code == 0 && comparison_differs(&c) && !option_given(&a->own, "page"))
        f->exit_code = 2;
done:
    front_result_free(&one);
    front_result_free(&two);
    return st;
}
