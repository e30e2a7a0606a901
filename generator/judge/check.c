/* check.c -- checks before code is written: derivatives against dual numbers, the model's own test points.
 *
 * Both sides run in the interpreter in extended precision: the symbolic derivative as an expression, and the dual
 * number carried through the model itself. They share no rule, so they agree only when both are right.
 */
#include "judge/check.h"

#include <math.h>
#include <string.h>

#include "graph/eval.h"

/* Tolerance between a derivative and its dual number: rounding of 64-bit mantissas in some thousand operations of a
 * well-conditioned formula stays below 1e-15 of the value. */
#define TOL_DERIVATIVE 1e-13

/* A formula with cancellation loses more. hg_num.e tells how much: it is the running bound of the effect of one
 * rounding in each operation on the result, in units of the rounding (Higham 2002, section 3.3). Here that is 2^-64.
 * Both sides round, but at different points, so the tolerance exceeds the bound of the symbolic side. */
#define ROUNDING 0x1p-64L
#define ROUNDINGS 128

enum { FRAMES = 14, SETS = 12, ROWS = 3, GROUPS = 3 };

struct check {
    struct hg_model *m;
    hg_id mean;     /* or the log density */
    int twice;      /* second derivatives, too */
    uint32_t nleaf; /* parameters, then linear parameters */
    hg_id *root;    /* mean, then its derivatives */
    hg_id *second;  /* upper triangle of second derivatives, when requested */
    struct hg_eval *symbolic, *dual, *symbolic2;
    double worst;
    const char *worst_name;
    const struct hg_symbol_decl *derived; /* `mean` is this derived quantity; NULL: it is the mean */
    unsigned long compared, compared2; /* derivatives that are finite: first, second */
    unsigned long cancelled;           /* agree within the effect of rounding, not to all digits */
    unsigned char *seen;               /* by leaf: some derivative by it is not negligible beside the value */
};

static double *values_of(const struct hg_model *m, const struct hg_list *list, size_t offset)
{
    double *v = hg_alloc(m->expr->arena, (list->n + 1) * sizeof *v);
    for (uint32_t k = 0; k < list->n; k++)
        v[k] = hg_model_typical(m, list, k, offset, NULL);
    return v;
}

/* A row of a table: that of the first test, then points in the range of the column, or around the number of the
 * test, or of order 1. */
static double *row_of(const struct hg_model *m, size_t row)
{
    static const double some[ROWS] = {1.0, 0.3, 2.7};
    double *v = hg_alloc(m->expr->arena, (m->column.n + 1) * sizeof *v);
    for (uint32_t k = 0; k < m->column.n; k++) {
        const struct hg_symbol_decl *c = &m->column.item[k];
        double x = m->ntest && m->test[0].column ? m->test[0].column[k] : NAN;
        double scale = 1 + 0.1 * k; /* columns differ */
        v[k] = isfinite(x) && row == 0 ? x
               : c->lower < c->upper   ? hg_model_between(c, some[row] / (3 * scale))
               : isfinite(x)           ? x * some[row]
                                       : scale * some[row];
    }
    return v;
}

static uint32_t line_of(const struct check *c)
{
    return c->derived ? c->derived->line : c->m->observe_line;
}

static const char *of_what(const struct check *c)
{
    return c->derived ? hg_format(c->m->expr->arena, " of '%s'", c->derived->name) : "";
}

static const char WRONG[] = "rounding does not explain this: it is an error of the compiler, please report it";

/* "x = 1, a = 2, b = 0.5": the covariates or frames, the parameters. */
static const char *place_of(const struct check *c, const struct hg_point *p)
{
    const struct hg_model *m = c->m;
    struct hg_arena *a = m->expr->arena;
    const char *text = m->space == FIT_PAIRS ? hg_format(a, "t1 = %.6g, t2 = %.6g", p->time[p->i], p->time[p->j]) : "";
    for (uint32_t k = 0; k < m->axis.n; k++)
        text = hg_format(a, "%s%s%s = %.6g", text, *text ? ", " : "", m->axis.item[k].name, p->coord[k]);
    for (uint32_t k = 0; m->space != FIT_PAIRS && k < m->column.n; k++)
        if (m->column.item[k].role == FIT_ROLE_COVARIATE)
            text = hg_format(a, "%s%s%s = %.6g", text, *text ? ", " : "", m->column.item[k].name, p->column[k]);
    for (uint32_t k = 0; k < c->nleaf; k++)
        text = hg_format(a, "%s%s%s = %.9g", text, *text ? ", " : "", hg_model_unknown(c->m, k)->name,
                         k < m->param.n ? p->param[k] : p->linear[k - m->param.n]);
    return text;
}

/* Derivatives at one point, seed by seed. */
static int compare_at(struct check *c, struct hg_point *p, struct hg_diag *d)
{
    p->seed = 0;
    hg_eval_run(c->symbolic, p);
    for (uint32_t k = 0; k < c->nleaf; k++) {
        p->seed = hg_model_unknown(c->m, k)->node;
        k ? hg_eval_seed(c->dual, p) : hg_eval_run(c->dual, p);
        const struct hg_num symbolic = hg_eval_get(c->symbolic, c->root[k + 1], 0);
        long double s = symbolic.v, e = symbolic.e, x = hg_eval_get(c->dual, c->mean, 0).d;
        long double scale = fmaxl(fabsl(s), fabsl(x)), value = fabsl(hg_eval_get(c->dual, c->mean, 0).v);
        if (!isfinite(s) && !isfinite(x))
            continue;
        c->compared++;
        /* below the resolution of the mean itself, a comparison says nothing */
        double error = scale > 1e-12L * value ? (double)(fabsl(s - x) / scale) : 0.0;
        if (error > TOL_DERIVATIVE && fabsl(s - x) <= ROUNDINGS * ROUNDING * e) {
            c->cancelled++;
            continue; /* correct, as far as this much cancellation permits */
        }
        c->seen[k] |= scale > 1e-12L * value;
        if (error > c->worst || !isfinite(error)) {
            c->worst = error;
            c->worst_name = hg_model_unknown(c->m, k)->name;
        }
        if (!(error <= TOL_DERIVATIVE)) {
            hg_error(d, line_of(c), NULL, WRONG,
                     "the derivative%s by '%s' is %.17Lg but dual numbers give %.17Lg (rounding explains %.2Lg of the "
                     "difference)\n    at %s",
                     of_what(c), hg_model_unknown(c->m, k)->name, s, x, ROUNDING * e, place_of(c, p));
            return 0;
        }
    }
    return 1;
}

/* The dual number of the symbolic d mean / d a with seed b, for both orders of a and b. */
static int compare_second_at(struct check *c, struct hg_point *p, struct hg_diag *d)
{
    p->seed = 0;
    hg_eval_run(c->symbolic2, p);
    for (uint32_t b = 0; b < c->nleaf; b++) {
        p->seed = hg_model_unknown(c->m, b)->node;
        hg_eval_run(c->symbolic, p);
        for (uint32_t a = 0; a < c->nleaf; a++) {
            uint32_t low = a < b ? a : b, high = a < b ? b : a;
            struct hg_num s = hg_eval_get(c->symbolic2, c->second[low * c->nleaf - low * (low + 1) / 2 + high], 0);
            long double x = hg_eval_get(c->symbolic, c->root[a + 1], 0).d;
            if (!isfinite(s.v) && !isfinite(x))
                continue;
            c->compared2++;
            long double allowed = TOL_DERIVATIVE * fmaxl(fabsl(s.v), fabsl(x));
            allowed = fmaxl(allowed, s.e * ROUNDING * ROUNDINGS);
            if (fabsl(s.v - x) <= allowed)
                continue;
            hg_error(d, c->m->observe_line, NULL, WRONG,
                     "the second derivative by '%s' and '%s' is %.17Lg but dual numbers give %.17Lg (rounding explains "
                     "%.2Lg of the difference)\n    at %s",
                     hg_model_unknown(c->m, a)->name, hg_model_unknown(c->m, b)->name, s.v, x, ROUNDING * s.e,
                     place_of(c, p));
            return 0;
        }
    }
    return 1;
}

static int check_derivatives(struct check *c, struct hg_diag *d)
{
    static const uint32_t pair[][2] = {{0, 1}, {0, FRAMES - 1}, {2, 7}, {5, 6}, {FRAMES - 2, FRAMES - 1}};
    struct hg_model *m = c->m;
    double time[FRAMES], step = 0.1;
    struct hg_point p = {.time = time, .ntime = FRAMES};
    p.linear = values_of(m, &m->linear, offsetof(struct hg_test, linear));
    p.setting = values_of(m, &m->setting, offsetof(struct hg_test, setting));
    double *coord = hg_alloc(m->expr->arena, (m->axis.n + 1) * sizeof *coord);
    p.coord = coord;
    if (m->ntest && m->test[0].step > 0)
        step = m->test[0].step;
    p.step = step;
    for (uint32_t k = 0; k < FRAMES; k++)
        time[k] = step * k;
    for (uint32_t s = 0; s < m->nscreen && s < SETS; s++) {
        p.param = m->screen + (size_t)s * m->param.n;
        for (uint32_t k = 0; k < m->axis.n; k++)
            coord[k] = hg_model_coordinate(m, k, s % GROUPS, GROUPS);
        for (size_t k = 0; k < (m->space == FIT_PAIRS ? sizeof pair / sizeof *pair : ROWS); k++) {
            p.i = m->space == FIT_PAIRS ? pair[k][0] : 0;
            p.j = m->space == FIT_PAIRS ? pair[k][1] : 0;
            p.column = row_of(m, k);
            if (!compare_at(c, &p, d) || (c->twice && !compare_second_at(c, &p, d)))
                return 0;
        }
    }
    return 1;
}

/* "tau = 10, B = 0": parameters that the mean needs and a test does not name; NULL: none. */
static const char *left_out(const struct check *c, const struct hg_test *t)
{
    const struct hg_model *m = c->m;
    const char *text = NULL;
    for (uint32_t k = 0; k < c->nleaf; k++) {
        const struct hg_symbol_decl *s = hg_model_unknown(m, k);
        if (isnan(k < m->param.n ? t->param[k] : t->linear[k - m->param.n]) && hg_contains(m->expr, c->mean, s->node))
            text = hg_format(m->expr->arena, "%s%s%s = %.6g", text ? text : "", text ? ", " : "", s->name, s->start);
    }
    return text;
}

/* Compares the mean at the point of a test with the expected value; 0: they differ. */
static int check_answer(struct check *c, const struct hg_test *t, const struct hg_point *p, double expected,
                        struct hg_diag *d)
{
    struct hg_model *m = c->m;
    hg_eval_run(c->dual, p);
    long double x = hg_eval_get(c->dual, c->mean, 0).v;
    double tolerance = t->tolerance > 0 ? t->tolerance : 1e-12;
    if (fabsl(x - expected) <= tolerance * fmaxl(1e-300L, fabsl((long double)expected)))
        return 1;
    const char *starts = left_out(c, t);
    hg_error(d, t->line, NULL,
             starts ? hg_format(m->expr->arena,
                                "correct the equations or the test point; it does not name all parameters,"
                                " which are at their starts: %s",
                                starts)
                    : "correct the equations or the test point",
             "test point: %s is %.17Lg, expected %.17g (tolerance %g)",
             c->derived ? c->derived->name : m->observable, x, expected, tolerance);
    return 0;
}

/* The model's own test points. */
static int check_test(struct check *c, const struct hg_test *t, double expected, struct hg_diag *d)
{
    struct hg_model *m = c->m;
    double first = t->first_time, step = t->step > 0 ? t->step : 1, last = fmax(t->t1, t->t2);
    uint32_t n = m->space == FIT_PAIRS ? (uint32_t)lround((last - first) / step) + 1 : 1;
    n = n < 2 ? 2 : n;
    double *time = hg_alloc(m->expr->arena, n * sizeof *time);
    double *param = hg_alloc(m->expr->arena, (m->param.n + 1) * sizeof *param);
    double *linear = hg_alloc(m->expr->arena, (m->linear.n + 1) * sizeof *linear);
    double *setting = hg_alloc(m->expr->arena, (m->setting.n + 1) * sizeof *setting);
    for (uint32_t k = 0; k < n; k++)
        time[k] = first + step * k;
    for (uint32_t k = 0; k < m->setting.n; k++)
        setting[k] = isnan(t->setting[k]) ? m->setting.item[k].start : t->setting[k];
    for (uint32_t k = 0; k < m->param.n; k++)
        param[k] = isnan(t->param[k]) ? m->param.item[k].start : t->param[k];
    for (uint32_t k = 0; k < m->linear.n; k++)
        linear[k] = isnan(t->linear[k]) ? m->linear.item[k].start : t->linear[k];
    struct hg_point p = {.param = param, .linear = linear, .setting = setting, .coord = t->coord,
                         .column = t->column, .time = time, .ntime = n, .step = step};
    p.i = (uint32_t)lround((fmin(t->t1, t->t2) - first) / step);
    p.j = n - 1;
    if (m->space == FIT_PAIRS)
        p.j = (uint32_t)lround((last - first) / step);
    else
        p.i = p.j = 0;
    if (!t->row || c->derived)
        return check_answer(c, t, &p, expected, d);
    int ok = 1;
    p.history = t->row;
    p.sharp = 1;
    for (uint32_t r = 0; r < t->nrow && ok; r++) {
        p.column = t->row[r];
        p.nhistory = r;
        ok = isnan(t->expect[r]) || check_answer(c, t, &p, t->expect[r], d);
    }
    return ok;
}

static struct check open_check(struct hg_model *m, hg_id mean, int twice)
{
    struct check c = {.m = m, .mean = mean, .twice = twice, .nleaf = m->param.n + m->linear.n, .worst_name = "-"};
    c.root = hg_alloc(m->expr->arena, (c.nleaf + 1) * sizeof *c.root);
    c.seen = hg_alloc(m->expr->arena, c.nleaf + 1);
    c.root[0] = mean;
    for (uint32_t k = 0; k < c.nleaf; k++)
        c.root[k + 1] = hg_diff(m->expr, mean, hg_model_unknown(m, k)->node);
    c.second = hg_alloc(m->expr->arena, ((size_t)c.nleaf * (c.nleaf + 1) / 2 + 1) * sizeof *c.second);
    for (uint32_t a = 0, n = 0; a < c.nleaf && twice; a++)
        for (uint32_t b = a; b < c.nleaf; b++)
            c.second[n++] = hg_diff(m->expr, c.root[a + 1], hg_model_unknown(m, b)->node);
    c.symbolic = hg_eval_new(m->expr, c.nleaf + 1, c.root);
    c.symbolic2 = hg_eval_new(m->expr, twice ? c.nleaf * (c.nleaf + 1) / 2 : 0, c.second);
    c.dual = hg_eval_new(m->expr, 1, &c.mean);
    return c;
}

static void close_check(struct check *c)
{
    hg_eval_free(c->symbolic);
    hg_eval_free(c->symbolic2);
    hg_eval_free(c->dual);
}

/* The log density: its first and second derivatives. */
static int check_law(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d, FILE *out)
{
    if (!m->density)
        return 1;
    struct check c = open_check(m, m->density->node, 1);
    int ok = check_derivatives(&c, d);
    close_check(&c);
    if (ok && out)
        fprintf(
            out,
            "%s (%s): %lu derivatives of the log density agree with dual numbers to %.1e (%s), and %lu second ones\n",
            m->file, v->name, c.compared, c.worst, c.worst_name, c.compared2);
    return ok;
}

/* "E, beta": parameters in the mean by which every compared derivative was close to zero; NULL: none. */
static const char *unseen_names(const struct check *c)
{
    const char *text = NULL;
    for (uint32_t k = 0; k < c->nleaf; k++)
        if (!c->seen[k] && !hg_is_value(c->m->expr, c->root[k + 1], 0.0))
            text = hg_format(c->m->expr->arena, "%s%s%s", text ? text : "", text ? ", " : "",
                             hg_model_unknown(c->m, k)->name);
    return text;
}

/* Derived quantities: their derivatives, and the values given in tests. */
static int check_derived(struct hg_model *m, struct hg_diag *d, FILE *out)
{
    int ok = 1;
    for (uint32_t k = 0; k < m->derived.n; k++) {
        struct check c = open_check(m, m->derived.item[k].node, 0);
        c.derived = &m->derived.item[k];
        ok &= check_derivatives(&c, d);
        for (uint32_t t = 0; t < m->ntest; t++)
            if (!isnan(m->test[t].derived[k]))
                ok &= check_test(&c, &m->test[t], m->test[t].derived[k], d);
        close_check(&c);
        if (ok && out)
            fprintf(out, "%s: %lu derivatives of %s agree with dual numbers to %.1e\n", m->file, c.compared,
                    c.derived->name, c.worst);
    }
    return ok;
}

int hg_check(struct hg_model *m, const struct hg_variant *v, int hessian, struct hg_diag *d, FILE *out)
{
    struct check c = open_check(m, v->mean, hessian);
    uint32_t tests = 0;
    int ok = check_derivatives(&c, d) && check_law(m, v, d, out) && check_derived(m, d, out);
    hg_model_sizes_told(m, d);
    for (uint32_t t = 0; t < m->ntest; t++)
        if ((m->test[t].row || !isnan(m->test[t].expected)) && strcmp(m->test[t].variant, v->name) == 0) {
            const char *starts = left_out(&c, &m->test[t]);
            ok &= check_test(&c, &m->test[t], m->test[t].expected, d);
            tests++;
            if (ok && out && starts)
                fprintf(out, "%s:%u: the test point does not name all parameters; at their starts are %s\n", m->file,
                        (unsigned)m->test[t].line, starts);
        }
    close_check(&c);
    if (ok && out && hessian)
        fprintf(out, "%s (%s): %lu second derivatives agree with dual numbers of the first\n", m->file, v->name,
                c.compared2);
    if (ok && out && c.compared == 0 && c.nleaf)
        fprintf(out, "%s (%s): no derivative is finite at the rows tried: none was checked; give m.test{}"
                     " a row with sense\n", m->file, v->name);
    else if (ok && out && c.cancelled)
        fprintf(out, "%s (%s): %lu of them agree as far as rounding lets them: there the formula cancels\n", m->file,
                v->name, c.cancelled);
    if (ok && out && (c.compared || !c.nleaf))
        fprintf(out, "%s (%s): %lu derivatives agree with dual numbers%s at %u parameter sets; %u test points hold\n",
                m->file, v->name, c.compared,
                c.worst > 0 ? hg_format(m->expr->arena, " to %.1e (%s)", c.worst, c.worst_name) : " exactly",
                m->nscreen < SETS ? m->nscreen : SETS, tests);
    const char *unseen = unseen_names(&c);
    if (ok && out && c.compared && unseen)
        fprintf(out, "%s (%s): not tested, for they vanish at the rows tried: the derivatives by %s; give columns and"
                     " axes a range, or m.test{} a row with sense\n", m->file, v->name, unseen);
    return ok;
}
