/* domain.c -- expressions that can leave their domain inside the declared bounds: intervals first, then a witness.
 *
 * Every node gets an interval (Moore 1966) from the bounds of parameters, the values of settings, t >= 0, any angle.
 * Intervals ignore that two operands may depend on the same parameter, so they only raise a suspicion. A warning needs
 * a witness. Its parameters are inside the bounds: random, at the edges, or in corners. At its data point the mean,
 * computed in double (twin.h), is not finite because of this node. For a division a denominator is enough that no
 * choice (where) guards and that is 0 or takes both signs: the mean may be finite there, as exp(-x/tau) at tau = 0, but
 * its derivative is not a number. A parameter without a bound on one side is tried with the other sign as well; a
 * denominator that changes its sign there is not a witness.
 */
#include "judge/domain.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/functions.h"
#include "graph/eval.h"
#include "graph/loop.h"
#include "graph/twin.h"
#include "model/written.h"

static const double LONGEST = 1e6;      /* s: of an experiment */
static const double OVERFLOW = 709.78;  /* exp of more is no double */

enum { FRAMES = 8, PLACES = 3, CORNERS = 24 };

struct range {
    double lo, hi;
};

struct domain {
    struct hg_model *m;
    const struct hg_expr *e;
    hg_id mean;
    uint32_t K;
    int beyond;              /* a parameter without a bound has the opposite sign */
    int inside;              /* bounds themselves are excluded, ranges of columns are included */
    struct range *r;         /* of nodes up to the mean */
    unsigned char *need, *open; /* below the mean; below it without passing a branch of a choice */
    hg_id *suspect;
    uint32_t nsuspect;
    signed char *seen;       /* per suspect: 1 negative, 2 positive denominators seen; 4: witness found */
    const char **witness;    /* per suspect that is guilty */
    struct hg_twins *twins;
    struct hg_diag *d;
    uint64_t random;
    double *theta;
    struct hg_point at;
};

/* --- intervals ---------------------------------------------------------------------------------------- */

static struct range all(void)
{
    return (struct range){-INFINITY, INFINITY};
}

static struct range both(struct range a, struct range b)
{
    return (struct range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

/* 0 times infinity is 0: the infinite end is not reached. */
static double times(double a, double b)
{
    return a == 0.0 || b == 0.0 ? 0 : a * b; /* exact zeros */
}

static struct range product(struct range a, struct range b)
{
    double x[] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
    struct range r = {x[0], x[0]};
    for (int k = 1; k < 4; k++)
        r = both(r, (struct range){x[k], x[k]});
    return r;
}

static int is_whole(double x)
{
    return x == floor(x) && fabs(x) < 1e9; /* exact test for an integral literal */
}

static struct range power(struct range a, struct range b)
{
    double n = b.lo;
    if (b.lo == b.hi && is_whole(n) && a.lo < 0) { /* one exponent */
        if (n < 0)
            return a.hi > 0 || fmod(n, 2) == 0 ? all() : (struct range){-INFINITY, 0};
        struct range r = both((struct range){pow(a.lo, n), pow(a.lo, n)}, (struct range){pow(a.hi, n), pow(a.hi, n)});
        if (fmod(n, 2) == 0 && a.hi > 0)
            r.lo = 0;
        return r;
    }
    double lo = fmax(a.lo, 0), hi = fmax(a.hi, 0);
    double x[] = {pow(lo, b.lo), pow(lo, b.hi), pow(hi, b.lo), pow(hi, b.hi)};
    struct range r = {INFINITY, 0};
    for (int k = 0; k < 4; k++)
        r = both(r, (struct range){isnan(x[k]) ? 0 : x[k], isnan(x[k]) ? INFINITY : x[k]});
    return r;
}

/* Range of a function of one argument that lies in a (ops.def). */
static struct range values_of(enum hg_op op, struct range a)
{
    const struct hg_function *f = hg_function(op);
    if (!f)
        return all();
    if (!f->rising)
        return (struct range){f->lowest, f->highest};
    double lo = hg_value(op, a.lo), hi = hg_value(op, a.hi); /* NaN: below where the function begins */
    return (struct range){isnan(lo) ? -INFINITY : lo, isnan(hi) ? -INFINITY : hi};
}

/* a below b (or equal): the knowledge about a and b inside the branches of a choice. */
static struct range branch(const struct domain *w, hg_id condition, hg_id x, int taken)
{
    const struct hg_node *c = hg_at(w->e, condition);
    struct range r = w->r[x];
    if (c->op != HG_LT && c->op != HG_LE)
        return r;
    hg_id small = c->arg[taken ? 0 : 1], large = c->arg[taken ? 1 : 0];
    if (x == small)
        r.hi = fmin(r.hi, w->r[large].hi);
    if (x == large)
        r.lo = fmax(r.lo, w->r[small].lo);
    return r.lo <= r.hi ? r : w->r[x];
}

static struct range declared(const struct hg_list *list, uint32_t k)
{
    return (struct range){list->item[k].lower, list->item[k].upper};
}

/* Range of the numbers of a loop, and of a sum over its turns. */
static struct range node_range(const struct domain *w, const struct hg_node *n)
{
    const double *x = hg_node_numbers(w->e, n);
    struct range r = {x[0], x[0]};
    for (uint32_t k = 1; k < hg_loop_at(w->e, hg_node_loop(n))->n; k++)
        r = (struct range){fmin(r.lo, x[k]), fmax(r.hi, x[k])};
    return r;
}

static struct range sum_range(const struct domain *w, const struct hg_node *n)
{
    double turns = hg_turns(w->e, n);
    return product((struct range){turns, turns}, w->r[n->arg[1]]);
}

static struct range leaf_range(const struct domain *w, const struct hg_node *n)
{
    double x;
    switch (n->op) {
    case HG_CONST: return (struct range){n->value, n->value};
    case HG_PARAM: return declared(&w->m->param, n->ref);
    case HG_LINEAR: return declared(&w->m->linear, n->ref);
    case HG_SETTING: x = w->at.setting[n->ref]; return (struct range){x, x};
    case HG_COLUMN: return w->inside && w->m->column.item[n->ref].lower < w->m->column.item[n->ref].upper
                               ? declared(&w->m->column, n->ref) : all();
    case HG_COORD: return w->inside && w->m->axis.item[n->ref].lower < w->m->axis.item[n->ref].upper
                              ? declared(&w->m->axis, n->ref) : all();
    case HG_TIME: return (struct range){0, LONGEST};
    case HG_NODE: return node_range(w, n);
    case HG_STEP: return (struct range){1e-9, LONGEST};
    default: return all();
    }
}

/* Of functions of an order; where other orders are derivatives, only order 0 is reported. */
static struct range range_of_many(const struct domain *w, const struct hg_node *n)
{
    const struct range order = w->r[n->arg[0]];
    switch (n->op) {
    case HG_BESSEL_J:
    case HG_SPHERICAL_J: return (struct range){-1, 1};
    case HG_BESSEL_K:
    case HG_SPHERICAL_K: return (struct range){0, INFINITY};
    case HG_GAMMA_P:
    case HG_GAMMA_Q: return order.hi == 0 ? (struct range){0, 1} : all();
    case HG_FADDEEVA_RE: return order.hi == 0 && w->r[n->arg[2]].lo >= 0 ? (struct range){0, 1} : all();
    default: return all();
    }
}

static struct range range_of(const struct domain *w, hg_id id)
{
    const struct hg_node *n = hg_at(w->e, id);
    struct range a = n->nargs ? w->r[n->arg[0]] : all(), r = a;
    if (n->nargs == 0)
        return leaf_range(w, n);
    switch (n->op) {
    case HG_SUM:
        for (uint32_t k = 1; k < n->nargs; k++)
            r = (struct range){r.lo + w->r[n->arg[k]].lo, r.hi + w->r[n->arg[k]].hi};
        return isnan(r.lo) || isnan(r.hi) ? all() : r;
    case HG_PROD:
        for (uint32_t k = 1; k < n->nargs; k++)
            r = product(r, w->r[n->arg[k]]);
        return r;
    case HG_POW: return power(a, w->r[n->arg[1]]);
    case HG_ATAN2: return (struct range){-3.1416, 3.1416};
    case HG_COSH: return (struct range){1, cosh(fmax(fabs(a.lo), fabs(a.hi)))};
    case HG_ABS: return (struct range){a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, fmax(fabs(a.lo), fabs(a.hi))};
    case HG_LT:
    case HG_LE: return (struct range){0, 1};
    case HG_WHERE: return both(branch(w, n->arg[0], n->arg[1], 1), branch(w, n->arg[0], n->arg[2], 0));
    case HG_AT_I:
    case HG_AT_J: return a;
    case HG_REDUCE: return sum_range(w, n);
    case HG_HOLD: return a;
    case HG_POTENTIAL: return product((struct range){fmin(a.lo, 0), fmax(a.hi, 0)}, (struct range){0, LONGEST});
    case HG_DELTA: /* an integral has the sign of the integrand */
        if (hg_at(w->e, n->arg[0])->op == HG_POTENTIAL)
            return a;
        return (struct range){hg_at(w->e, n->arg[0])->op == HG_TIME ? 0 : a.lo - a.hi, a.hi - a.lo};
    default: return hg_many(n->op) ? range_of_many(w, n) : values_of(n->op, a);
    }
}

/* --- suspicion ---------------------------------------------------------------------------------------- */

enum fault { NONE, NEGATIVE, ZERO, OUTSIDE, TOO_LARGE };

/* The possible fault of the node when its operands lie in a (and the exponent in b). */
static enum fault fault_of(enum hg_op op, struct range a, struct range b)
{
    switch (op) {
    case HG_LOG:
    case HG_GAMMA:
    case HG_LGAMMA:
    case HG_DIGAMMA:
    case HG_TRIGAMMA:
    case HG_TETRAGAMMA: return a.lo < 0 ? NEGATIVE : a.lo <= 0 ? ZERO : NONE;
    case HG_LOG1P: return a.lo <= -1 ? OUTSIDE : NONE;
    case HG_LOG1MEXP: return a.hi >= 0 ? OUTSIDE : NONE;
    case HG_BESSEL_Y:
    case HG_BESSEL_K:
    case HG_SPHERICAL_K:
    case HG_SPHERICAL_Y: return a.lo < 0 ? NEGATIVE : a.lo <= 0 ? ZERO : NONE;
    case HG_SPHERICAL_I:
    case HG_BESSEL_I: return a.hi > OVERFLOW || a.lo < -OVERFLOW ? TOO_LARGE : NONE;
    case HG_ERFCX: return a.lo < -26 ? TOO_LARGE : NONE;
    case HG_ERFI: return a.lo < -26 || a.hi > 26 ? TOO_LARGE : NONE;
    case HG_GAMMA_P:
    case HG_GAMMA_Q:
    case HG_GAMMA_DENSITY: return a.lo < 0.1 || a.hi > 1000 ? OUTSIDE : NONE; /* the shape */
    case HG_ERFINV: return a.lo <= -1 || a.hi >= 1 ? OUTSIDE : NONE;
    case HG_ASIN:
    case HG_ACOS: return a.lo < -1 || a.hi > 1 ? OUTSIDE : NONE;
    case HG_EXP:
    case HG_EXPREL:
    case HG_EXPM1: return a.hi > OVERFLOW ? TOO_LARGE : NONE;
    case HG_SINH:
    case HG_COSH: return a.hi > OVERFLOW || a.lo < -OVERFLOW ? TOO_LARGE : NONE;
    case HG_POW:
        if (a.lo < 0 && !(b.lo == b.hi && is_whole(b.lo)))
            return NEGATIVE;
        return a.lo <= 0 && a.hi >= 0 && b.lo < 0 ? ZERO : NONE;
    default: return NONE;
    }
}

/* Position of the operand that can be out of the domain: after the order, for a function of an order. */
static uint32_t subject(const struct domain *w, hg_id id)
{
    return hg_many(hg_at(w->e, id)->op) != NULL;
}

static struct range operand(const struct domain *w, hg_id id, uint32_t k)
{
    const struct hg_node *n = hg_at(w->e, id);
    k += subject(w, id);
    return k < n->nargs ? w->r[n->arg[k]] : (struct range){0, 0};
}

static void mark(const struct domain *w, unsigned char *need, int into_branches)
{
    need[w->mean] = 1;
    for (hg_id id = w->mean; id > 0; id--) {
        const struct hg_node *n = hg_at(w->e, id);
        uint32_t last = n->op == HG_WHERE && !into_branches ? 1 : n->nargs;
        for (uint32_t k = 0; need[id] && k < last; k++)
            need[n->arg[k]] = 1;
    }
}

static void find_suspects(struct domain *w)
{
    mark(w, w->need, 1);
    mark(w, w->open, 0);
    for (hg_id id = 1; id <= w->mean; id++) {
        if (!w->need[id])
            continue;
        w->r[id] = range_of(w, id);
        if (fault_of(hg_at(w->e, id)->op, operand(w, id, 0), operand(w, id, 1)) != NONE)
            w->suspect[w->nsuspect++] = id;
    }
}

/* --- the warning -------------------------------------------------------------------------------------- */

/* "D0 = 1, alpha = -2": parameters below the node, with their values at the witness. */
static const char *witness(const struct domain *w, hg_id id)
{
    const char *s = "";
    for (uint32_t k = 0; k < w->K; k++)
        if (hg_contains(w->e, id, w->m->param.item[k].node))
            s = hg_format(w->e->arena, "%s%s%s = %.4g", s, *s ? ", " : "", w->m->param.item[k].name, w->theta[k]);
    return *s ? s : "any parameters";
}

static const char *what_of(const struct domain *w, hg_id id, enum fault f)
{
    const struct hg_node *n = hg_at(w->e, id);
    double b = 0;
    if (n->op == HG_POW && f == ZERO)
        return hg_is_const(w->e, n->arg[1], &b) ? "division by" : "a negative power of";
    if (n->op == HG_POW)
        return hg_is_const(w->e, n->arg[1], &b) && b == 0.5 ? "the square root of" : "a power of";
    return hg_format(w->e->arena, "%s of", hg_op_text[n->op]);
}

static const char *help_of(enum fault f, enum hg_op op, const struct hg_node *operand)
{
    if (f == ZERO && operand->op == HG_TIME)
        return "the first frame may be at 0: take floor_at(t, t.step / 2) for t";
    switch (f) {
    case NEGATIVE: return "bounds that keep it positive, or floor_at(x, lo)";
    case ZERO: return "bounds that keep it away from 0, or floor_at(x, lo)";
    case TOO_LARGE:
        return op == HG_ERFCX  ? "narrower bounds, floor_at(x, -26); a decay behind a Gaussian: exgauss(x, sigma, tau)"
               : op == HG_ERFI ? "narrower bounds, or clamp(x, -26, 26)"
                               : "narrower bounds, or cap_at(x, 700)";
    default: return "narrower bounds, or clamp(x, lo, hi)";
    }
}

static const char *how_of(enum fault f, enum hg_op op)
{
    switch (f) {
    case NEGATIVE: return "be negative";
    case ZERO: return "be 0";
    case TOO_LARGE: return "overflow";
    default:
        if (op >= HG_GAMMA_P && op <= HG_GAMMA_DENSITY)
            return "lie outside [0.1, 1000]";
        return op == HG_LOG1P ? "be -1 or less" : "lie outside [-1, 1]";
    }
}

/* The text in the line under which the caret is put. */
static const char *near_of(const struct domain *w, hg_id id, enum fault f)
{
    const struct hg_node *n = hg_at(w->e, id), *x = hg_at(w->e, n->arg[subject(w, id)]);
    double b = 0;
    if (x->name)
        return x->name;
    if (n->op != HG_POW)
        return hg_op_text[n->op];
    return f == ZERO ? "/" : hg_is_const(w->e, n->arg[1], &b) && b == 0.5 ? "sqrt" : "^";
}

static const char *operand_text(const struct domain *w, hg_id id)
{
    const char *name = hg_at(w->e, id)->name;
    return name ? name : hg_written_text(w->m, id);
}

static void warn(struct domain *w, uint32_t s)
{
    hg_id id = w->suspect[s];
    struct range a = operand(w, id, 0);
    enum hg_op op = hg_at(w->e, id)->op;
    enum fault f = fault_of(op, a, operand(w, id, 1));
    const hg_id x = hg_at(w->e, id)->arg[subject(w, id)];
    hg_warning(w->d, hg_at(w->e, id)->line, near_of(w, id, f), help_of(f, op, hg_at(w->e, x)),
               "%s %.120s, which can %s: the bounds let it vary in [%.4g, %.4g]; seen at %s", what_of(w, id, f),
               operand_text(w, x), how_of(f, op), a.lo, a.hi, w->witness[s]);
}

static void convict(struct domain *w, uint32_t s)
{
    w->seen[s] |= 4;
    w->witness[s] = witness(w, w->suspect[s]);
}

/* In the order of the lines. */
static void warn_all(struct domain *w)
{
    for (;;) {
        uint32_t next = w->nsuspect;
        for (uint32_t s = 0; s < w->nsuspect; s++)
            if ((w->seen[s] & 4) &&
                (next == w->nsuspect || hg_at(w->e, w->suspect[s])->line < hg_at(w->e, w->suspect[next])->line))
                next = s;
        if (next == w->nsuspect)
            return;
        warn(w, next);
        w->seen[next] = 0;
    }
}

/* --- witnesses ---------------------------------------------------------------------------------------- */

static double value_at(const struct domain *w, hg_id id, uint32_t k)
{
    return hg_twins_get(w->twins, id, k).f;
}

static void judge_point(struct domain *w)
{
    hg_id culprit = isfinite(value_at(w, w->mean, 0)) ? 0 : hg_twins_undefined(w->twins, w->mean, NULL);
    for (uint32_t s = 0; s < w->nsuspect; s++) {
        hg_id id = w->suspect[s], x = hg_at(w->e, id)->arg[subject(w, id)];
        if (w->seen[s] & 4)
            continue;
        if (id == culprit) {
            convict(w, s);
            continue;
        }
        enum fault f = fault_of(hg_at(w->e, id)->op, operand(w, id, 0), operand(w, id, 1));
        if (f != ZERO || w->beyond || !w->open[id] || hg_at(w->e, id)->op != HG_POW ||
            (hg_at(w->e, x)->vary & (HG_T | HG_K)))
            continue;
        double v = value_at(w, x, 0);
        int zero = v == 0 && value_at(w, hg_at(w->e, id)->arg[1], 0) < 0; /* exactly: at a bound */
        w->seen[s] |= (signed char)(zero ? 3 : v < 0 ? 1 : v > 0 ? 2 : 0);
        if ((w->seen[s] & 3) == 3)
            convict(w, s);
    }
}

/* A number of the test points, or the default. */
static double given(const struct hg_model *m, size_t offset, uint32_t k, double otherwise)
{
    for (uint32_t t = 0; t < m->ntest; t++) {
        const double *x = *(double *const *)((const char *)&m->test[t] + offset);
        if (x && isfinite(x[k]))
            return x[k];
    }
    return isfinite(otherwise) ? otherwise : 1.0;
}

/* Some data points at the current parameters. */
static void try_points(struct domain *w, double *coord, double *column)
{
    static const double place[PLACES] = {0, 48.2, 90}, scale[PLACES] = {1, 0.1, 2.5};
    static const uint32_t pair[][2] = {{0, 1}, {0, FRAMES - 1}, {3, 4}};
    int pairs = w->m->space == FIT_PAIRS;
    for (uint32_t g = 0; g < PLACES; g++) {
        for (uint32_t k = 0; k < w->m->axis.n; k++)
            coord[k] = w->m->axis.item[k].lower < w->m->axis.item[k].upper
                           ? hg_model_between(&w->m->axis.item[k], (double)g / (PLACES - 1))
                       : w->m->axis.item[k].unit && strcmp(w->m->axis.item[k].unit, "deg") == 0
                           ? place[g]
                           : scale[g] * given(w->m, offsetof(struct hg_test, coord), k, 1.0);
        for (uint32_t k = 0; k < w->m->column.n; k++)
            column[k] = scale[g] * given(w->m, offsetof(struct hg_test, column), k, 1.0);
        for (size_t n = 0; n < (pairs ? sizeof pair / sizeof *pair : 1); n++) {
            w->at.i = pairs ? pair[n][0] : 0;
            w->at.j = pairs ? pair[n][1] : 0;
            if (n)
                hg_twins_pair(w->twins, &w->at);
            else
                hg_twins_run(w->twins, &w->at);
            judge_point(w);
        }
    }
}

/* One of the ends; for an infinite end, a value of that sign. */
static double end_of(struct domain *w, const struct hg_symbol_decl *s, int upper, double otherwise)
{
    double x = upper ? s->upper : s->lower, size = otherwise < 0 || otherwise > 0 ? fabs(otherwise) : 1;
    if (!isfinite(x)) {
        w->beyond |= upper ? otherwise < 0 : otherwise > 0;
        return upper ? fmax(size, s->lower) : fmin(-size, s->upper);
    }
    return w->inside ? x + 1e-6 * (otherwise - x) : x;
}

/* Random sets, single parameters at their ends, corners of the box. */
static void try_parameters(struct domain *w, double *coord, double *column)
{
    const struct hg_model *m = w->m;
    for (uint32_t s = 0; s < m->nscreen && s < 8; s++) {
        memcpy(w->theta, m->screen + (size_t)s * w->K, w->K * sizeof *w->theta);
        try_points(w, coord, column);
    }
    for (uint32_t k = 0; k < 2 * w->K; k++) {
        const struct hg_symbol_decl *s = &m->param.item[k / 2];
        memcpy(w->theta, m->screen, w->K * sizeof *w->theta);
        w->beyond = 0;
        w->theta[k / 2] = end_of(w, s, k % 2, w->theta[k / 2]);
        try_points(w, coord, column);
    }
    for (uint32_t c = 0; c < CORNERS; c++) {
        w->beyond = 0;
        for (uint32_t k = 0; k < w->K; k++) {
            double here = m->screen[(c % m->nscreen) * w->K + k], u = hg_random(&w->random);
            w->theta[k] = u < 0.4 ? here : end_of(w, &m->param.item[k], u < 0.7, here);
        }
        try_points(w, coord, column);
    }
}

/* inside: excludes the bounds themselves, where a density may well be 0. */
static void check_root(struct hg_model *m, hg_id root, int inside, struct hg_diag *d)
{
    struct hg_arena *a = m->expr->arena;
    root = hg_loop_judged(m->expr, root);
    struct domain w = {.m = m, .e = m->expr, .mean = root, .inside = inside, .K = m->param.n, .d = d,
                       .random = 7};
    size_t n = (size_t)root + 1;
    double time[FRAMES], *setting = hg_alloc(a, (m->setting.n + 1) * sizeof *setting),
                         *linear = hg_alloc(a, (m->linear.n + 1) * sizeof *linear),
                         *coord = hg_alloc(a, (m->axis.n + 1) * sizeof *coord),
                         *column = hg_alloc(a, (m->column.n + 1) * sizeof *column);
    w.r = hg_alloc(a, n * sizeof *w.r);
    w.need = hg_alloc(a, n);
    w.open = hg_alloc(a, n);
    w.suspect = hg_alloc(a, n * sizeof *w.suspect);
    w.theta = hg_alloc(a, (w.K + 1) * sizeof *w.theta);
    for (uint32_t k = 0; k < m->setting.n; k++)
        setting[k] = given(m, offsetof(struct hg_test, setting), k, m->setting.item[k].start);
    for (uint32_t k = 0; k < m->linear.n; k++)
        linear[k] = given(m, offsetof(struct hg_test, linear), k, m->linear.item[k].start);
    w.at = (struct hg_point){.param = w.theta, .linear = linear, .setting = setting, .coord = coord, .column = column,
                             .time = time, .ntime = FRAMES};
    w.at.step = m->ntest && m->test[0].step > 0 ? m->test[0].step : 0.1;
    for (uint32_t k = 0; k < FRAMES; k++)
        time[k] = w.at.step * k;
    find_suspects(&w);
    if (w.nsuspect == 0 || m->nscreen == 0)
        return;
    w.seen = hg_alloc(a, w.nsuspect);
    w.witness = hg_alloc(a, w.nsuspect * sizeof *w.witness);
    w.twins = hg_twins_new(m->expr, 1, &w.mean, 1, 0, NULL);
    try_parameters(&w, coord, column);
    hg_twins_free(w.twins);
    warn_all(&w);
}

void hg_domain_check(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d)
{
    if (!m->density || !hg_contains(m->expr, m->density->node, v->mean)) /* it holds the mean, most times */
        check_root(m, v->mean, 0, d);
    if (m->density)
        check_root(m, m->density->node, 1, d);
}
