/* stability.c -- improves and measures the accuracy of a model. */
#include "judge/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/functions.h"
#include "graph/loop.h"
#include "judge/rewrites.h"
#include "model/written.h"

enum { V = HG_RULE_VARIABLES, MOST_VALUES = 300, BASES = 10, ROOTS = 1 + V, MOST_APPLIED = 24, MOST_MEASURED = 12 };

#define WORTH 8.0      /* ulp: errors below this need no improvement */
#define BETTER 4.0     /* factor that a rewrite must gain */
#define MOST_WORK 1e7  /* nodes x points of all candidates: some seconds; the rest of a large model stays as it is */
#define SEEN 0.01      /* weight of a node below which its error does not matter */

/* --- a rule by itself ----------------------------------------------------------------------------------- */

/* Pattern and replacement with their slopes, over opaque a, b, c in a graph of their own. */
struct bench {
    struct hg_arena *arena;
    struct hg_expr *e;
    struct hg_twins *t;
    hg_id var[V], old[ROOTS], new_[ROOTS];
    uint32_t nvar, nroot; /* value, then slopes by the wanted variables */
};

static void open_bench(struct bench *b, const struct hg_rule *r, uint32_t nvar, unsigned wanted)
{
    hg_id root[2 * ROOTS];
    b->arena = hg_arena_new();
    b->e = hg_expr_new(b->arena);
    b->nvar = nvar;
    for (uint32_t k = 0; k < V; k++)
        b->var[k] = hg_symbol(b->e, HG_PARAM, k);
    b->old[0] = hg_rule_build(b->e, r->from, b->var);
    b->new_[0] = hg_rule_build(b->e, r->to, b->var);
    b->nroot = 1;
    for (uint32_t k = 0; k < nvar; k++)
        if (wanted >> k & 1) {
            b->old[b->nroot] = hg_diff(b->e, b->old[0], b->var[k]);
            b->new_[b->nroot++] = hg_diff(b->e, b->new_[0], b->var[k]);
        }
    for (uint32_t k = 0; k < b->nroot; k++) {
        root[k] = b->old[k];
        root[b->nroot + k] = b->new_[k];
    }
    b->t = hg_twins_new(b->e, 2 * b->nroot, root, 2 * b->nroot, V, b->var);
}

static void close_bench(struct bench *b)
{
    hg_twins_free(b->t);
    hg_arena_free(b->arena);
}

static void run_bench(struct bench *b, const double *value)
{
    struct hg_point p = {.ntime = 1};
    for (uint32_t k = 0; k < V; k++)
        hg_twins_bind(b->t, b->var[k], value[k]);
    hg_twins_run(b->t, &p);
}

/* Error of one form of a root, given the exact value: relative for values; slopes also relative to their condition. */
static double form_error(struct bench *b, hg_id root, struct hg_ext exact, int slope)
{
    struct hg_twin y = hg_twins_get(b->t, root, 0);
    double scale = (double)fabsl(exact.hi), error;
    if (!isfinite(y.f))
        return HUGE_VAL;
    error = (double)fabsl(hg_ext_sub(hg_ext(y.f), exact).hi) * 0x1p52;
    if (slope && error > 4 * scale) {
        hg_twins_sweep(b->t, root);
        double condition = hg_twins_condition(b->t);
        scale = isfinite(condition) ? fmax(scale, condition) : scale;
    }
    return error / fmax(scale, 1e-290);
}

/* Updates the worst errors of the two forms with one set of values. */
static void compare_forms(struct bench *b, const double *value, double *before, double *after)
{
    run_bench(b, value);
    for (uint32_t k = 0; k < b->nroot; k++) {
        struct hg_ext x = hg_twins_get(b->t, b->old[k], 0).x, y = hg_twins_get(b->t, b->new_[k], 0).x;
        int pole = k == 0 && isinf(x.hi), differ = 0;
        if (!isfinite(y.hi)) { /* outside the domain of both, or the rule makes a value undefined */
            if (isfinite(x.hi))
                after[k] = HUGE_VAL;
            continue;
        }
        if (isfinite(x.hi)) /* where extended precision cancels as well, the replacement is trusted */
            differ = fabsl(hg_ext_sub(x, y).hi) > 1e-3L * fabsl(y.hi) + 1e-30L;
        if (pole || differ) {
            after[k] = HUGE_VAL;
            continue;
        }
        before[k] = fmax(before[k], isfinite(x.hi) ? form_error(b, b->old[k], y, k > 0) : HUGE_VAL);
        after[k] = fmax(after[k], form_error(b, b->new_[k], y, k > 0));
    }
}

/* The value of the pattern, for its sign. */
static long double pattern_at(struct bench *b, const double *value)
{
    run_bench(b, value);
    return hg_twins_get(b->t, b->old[0], 0).x.hi;
}

/* Where the pattern changes sign between two values it vanishes: that point is tried. */
static void compare_at_zeros(struct bench *b, uint32_t n, const double *value, double *before, double *after)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k + 1 < n && found < 8; k += 1 + n / 64) {
        const double *low = value + (size_t)k * V, *high = value + (size_t)(k + 1 + (k * 7) % (n - k - 1)) * V;
        long double s = pattern_at(b, low);
        double left = 0, right = 1, x[V];
        if (!(s * pattern_at(b, high) < 0))
            continue;
        found++;
        for (int step = 0; step < 60; step++) {
            double u = (left + right) / 2;
            for (uint32_t v = 0; v < V; v++)
                x[v] = low[v] + u * (high[v] - low[v]);
            *(s * pattern_at(b, x) > 0 ? &left : &right) = u;
            if (step % 8 == 7)
                compare_forms(b, x, before, after);
        }
    }
}

/* One variable at 0 and near it, if its values extend there. */
static void compare_near_zero(struct bench *b, uint32_t n, const double *value, double *before, double *after)
{
    for (uint32_t v = 0; v < b->nvar; v++) {
        double low = HUGE_VAL, high = -HUGE_VAL, x[V];
        for (uint32_t k = 0; k < n; k++) {
            low = fmin(low, value[(size_t)k * V + v]);
            high = fmax(high, value[(size_t)k * V + v]);
        }
        if (low > 0 || high < 0)
            continue;
        for (uint32_t k = 0; k < BASES && k < n; k++) {
            memcpy(x, value + (size_t)(k * (n / BASES + 1) % n) * V, sizeof x);
            for (int power = 0; power <= 16; power += 2) {
                double tiny = power < 16 ? pow(10, -power) : 0;
                x[v] = high * tiny;
                compare_forms(b, x, before, after);
                x[v] = low * tiny;
                compare_forms(b, x, before, after);
            }
        }
    }
}

int hg_rule_measure(const struct hg_rule *r, uint32_t nvariable, unsigned wanted, uint32_t n, const double *value,
                    double *before, double *after)
{
    struct bench b = {0};
    double was[ROOTS] = {0}, is[ROOTS] = {0};
    open_bench(&b, r, nvariable, wanted);
    for (uint32_t k = 0; k < n; k++)
        compare_forms(&b, value + (size_t)k * V, was, is);
    if (n > 1) {
        compare_near_zero(&b, n, value, was, is);
        compare_at_zeros(&b, n, value, was, is);
    }
    *before = *after = 0;
    for (uint32_t k = 0; k < b.nroot; k++) {
        *before = fmax(*before, was[k]);
        *after = fmax(*after, is[k]);
    }
    int none_worse = 1;
    for (uint32_t k = 0; k < b.nroot; k++) /* value and slopes each for themselves */
        none_worse = none_worse && !(is[k] > 2 * was[k] + 4);
    close_bench(&b);
    return none_worse;
}

/* --- candidates in a model ------------------------------------------------------------------------------ */

struct pass {
    struct hg_model *m;
    struct hg_expr *e;
    struct hg_places *box;
    hg_id mean;
    struct hg_accuracy *accuracy; /* of the mean as it is */
    FILE *explain;
    double *value; /* MOST_VALUES x V */
    uint64_t *tried; /* by node: the rules, as bits */
    size_t ntried, tried_room;
    uint32_t applied, measured;
    double work; /* nodes x places so far */
};

static int is_new(struct pass *q, hg_id node, uint32_t rule)
{
    _Static_assert(sizeof(uint64_t) * 8 >= 40, "one bit a rule");
    if (node >= q->ntried) {
        q->tried = hg_grow(q->e->arena, q->tried, q->ntried, q->e->n + 64, sizeof *q->tried, &q->tried_room);
        memset(q->tried + q->ntried, 0, (q->e->n + 64 - q->ntried) * sizeof *q->tried);
        q->ntried = q->e->n + 64;
    }
    uint64_t bit = (uint64_t)1 << rule, old = q->tried[node];
    q->tried[node] |= bit;
    return !(old & bit);
}

/* The relative change of the mean per relative error of the node; 0 where a choice takes another branch. */
static double weight(struct hg_twins *t, hg_id mean, hg_id node, size_t k)
{
    double value = hg_ext_round(hg_twins_get(t, node, k).x), size = fabs(hg_ext_round(hg_twins_get(t, mean, 0).x));
    double change = fabs(value * hg_twins_slope(t, node, k));
    return change > 0 ? change / fmax(size, 1e-290) : 0;
}

/* The values of a, b, c at the points of the box where the node matters, including guessed rows: a form that is
 * correct there as well is better. heaviest: the largest weight of the node. */
static uint32_t collect(struct pass *q, hg_id node, uint32_t nvar, const hg_id *bind, double *heaviest)
{
    hg_id root[V + 2] = {q->mean, node};
    memcpy(root + 2, bind, nvar * sizeof *bind);
    struct hg_twins *t = hg_twins_new(q->e, nvar + 2, root, nvar + 2, 0, NULL);
    uint32_t n = 0, skip = 0, every;
    int time = (hg_at(q->e, node)->vary & HG_T) != 0;
    const size_t places_of_node = hg_extent(q->e, node, HG_PLACES_FRAMES);
    every = 1 + q->box->n * (time ? HG_PLACES_FRAMES : 6 * (uint32_t)places_of_node) / MOST_VALUES;
    *heaviest = 0;
    for (uint32_t s = 0; s < q->box->n; s++)
        for (uint32_t place = 0; place < hg_places_of(q->box, s) && !(time && place > 1); place++) {
            struct hg_point p;
            q->work += q->e->n;
            hg_places_point(q->box, s, place, &p);
            if (place == 0 || q->e->march)
                hg_twins_run(t, &p);
            else
                hg_twins_pair(t, &p);
            if (!isfinite((double)hg_twins_get(t, q->mean, 0).x.hi))
                *heaviest = HUGE_VAL; /* nothing is known there: try */
            else
                hg_twins_sweep(t, q->mean);
            for (size_t k = 0; k < places_of_node; k++) {
                int known = !isinf(*heaviest), take = n < MOST_VALUES && (!known || hg_twins_slope(t, node, k) != 0);
                double w = known ? weight(t, q->mean, node, k) : 1;
                *heaviest = fmax(*heaviest, w);
                for (uint32_t v = 0; v < V && take; v++) {
                    size_t at = v < nvar ? hg_place(q->e, hg_at(q->e, node), k, hg_at(q->e, bind[v])) : 0;
                    double x = v < nvar ? hg_ext_round(hg_twins_get(t, bind[v], at).x) : 1;
                    q->value[(size_t)n * V + v] = x;
                    take = isfinite(x);
                }
                n += take && skip++ % every == 0;
            }
        }
    hg_twins_free(t);
    return n;
}

/* 1 when x consists of differences of tables of the form that separate.c accepts. */
static int of_differences(const struct hg_expr *e, hg_id x)
{
    const struct hg_node *n = hg_at(e, x);
    uint32_t many = 0;
    if (!(n->vary & (HG_I | HG_J)) || n->op == HG_DELTA)
        return 1;
    if (n->op != HG_SUM && n->op != HG_PROD)
        return 0;
    for (uint32_t k = 0; k < n->nargs; k++) {
        if (!of_differences(e, n->arg[k]))
            return 0;
        many += (hg_at(e, n->arg[k])->vary & (HG_I | HG_J)) != 0;
    }
    return n->op == HG_SUM || many <= 1;
}

/* Functions and choices that remain in the innermost loop, of values and derivatives. */
static uint32_t functions(const struct hg_expr *e, const struct hg_accuracy *a)
{
    HG_SCRATCH unsigned char *need = hg_zeros(e->n, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < a->n; k++)
        need[a->output[k].root] = 1;
    for (hg_id id = e->n - 1; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        if (!need[id] || !(x->vary & (HG_I | HG_J | HG_R)) || x->op == HG_AT_I || x->op == HG_AT_J || x->op == HG_DELTA)
            continue;
        for (uint32_t k = 0; k < x->nargs; k++)
            need[x->arg[k]] = 1;
        int table = (x->op == HG_EXP || x->op == HG_SIN || x->op == HG_COS || x->op == HG_SINC || x->op == HG_DSINC) &&
                    (x->vary & (HG_I | HG_J)) && of_differences(e, x->arg[0]);
        n += hg_function(x->op) && x->op != HG_ABS && x->op != HG_SIGN && !table;
        n += x->op == HG_POW && !hg_is_const(e, x->arg[1], NULL);
        n += x->op == HG_WHERE;
    }
    return n;
}

static int has_parameter(const struct hg_expr *e, hg_id root)
{
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    int found = 0;
    hg_mark(e, root, need);
    for (hg_id id = root; id > 0 && !found; id--)
        found = need[id] && hg_at(e, id)->op == HG_PARAM;
    return found;
}

/* Worst error of an output at all points; infinite where it is undefined. */
static double worst_of(const struct hg_worst *w)
{
    return w->undefined ? HUGE_VAL : fmax(w->ulp, w->guessed);
}

/* The same at declared points. */
static double declared_worst(const struct hg_worst *w)
{
    return w->undefined ? HUGE_VAL : w->ulp;
}

struct verdict {
    int worse, gain;      /* some output becomes worse; some output improves where the model is or may be used */
    int above;            /* the model exceeds its bound without the rule */
    const char *name;     /* of the output that becomes worse, or improves most */
    double before, after; /* of it */
};

static struct verdict judge(const struct hg_accuracy *old, const struct hg_accuracy *new_)
{
    struct verdict v = {.before = 1, .after = 1};
    for (uint32_t k = 0; k < old->n; k++) {
        const struct hg_worst *a = &old->output[k], *b = &new_->output[k];
        double x = worst_of(a), y = worst_of(b);
        double seen = fmax(a->ulp, a->guessed), now = fmax(b->ulp, b->guessed);
        int worse = b->undefined > a->undefined || b->guessed_undefined > a->guessed_undefined ||
                    now > fmax(1.5 * seen, b->undefined < a->undefined ? WORTH : 0) + 2;
        v.above |= a->undefined || a->ulp > old->bound * (k ? HG_ACCURACY_SLACK : 1);
        v.gain |= declared_worst(a) > WORTH && declared_worst(a) > 2 * declared_worst(b);
        v.gain |= b->guessed_undefined < a->guessed_undefined; /* a row at 0 may well occur in data */
        if (worse ? !v.worse : !v.worse && x * v.after > v.before * y) {
            v.name = a->name;
            v.before = x;
            v.after = y;
        }
        v.worse |= worse;
    }
    return v;
}

static void tell(struct pass *q, const struct hg_rule *r, hg_id node, double before, double after, const char *result)
{
    if (q->explain)
        fprintf(q->explain,
                "  %s: %s -> %s, %s:%u\n    in %s\n    worst error here %.3g ulp before, %.3g after: %s\n", r->name,
                r->from, r->to, q->m->file, hg_at(q->e, node)->line, hg_written_text(q->m, node), before, after,
                result);
}

static const char *reason(struct pass *q, const struct verdict *v, int slower, int tables)
{
    struct hg_arena *a = q->e->arena;
    if (v->worse)
        return hg_format(a, "refused, %s becomes worse: %.3g ulp to %.3g", v->name, v->before, v->after);
    if (slower && tables && !v->above)
        return "refused, it would take functions out of their tables over frames; the model is accurate enough";
    if (slower && !v->gain)
        return "refused, a function or a choice more in the innermost loop, and no output gains at a declared place";
    return NULL;
}

/* Tries one rule at one node; 1 when the mean has changed. */
static int try_rule(struct pass *q, hg_id node, uint32_t rule)
{
    const struct hg_rule *r = &hg_rule[rule];
    hg_id first = q->e->n, bind[V], to = hg_rule_apply(q->e, rule, node, bind), last = q->e->n, mean;
    uint32_t nvar = 0;
    unsigned wanted = 0;
    double before, after, heaviest;
    if (!to)
        return 0;
    while (nvar < V && bind[nvar]) {
        wanted |= (unsigned)has_parameter(q->e, bind[nvar]) << nvar;
        nvar++;
    }
    uint32_t n = collect(q, node, nvar, bind, &heaviest);
    if (!(heaviest > SEEN)) {
        tell(q, r, node, 0, 0, "refused, its digits do not reach the result");
        return 0;
    }
    int fine = hg_rule_measure(r, nvar, wanted, n, q->value, &before, &after);
    if (!(before > WORTH) || !fine || !(after * BETTER <= before) || !isfinite(after)) {
        tell(q, r, node, before, after,
             !(before > WORTH) ? "refused, accurate as it is"
             : fine            ? "refused, not better"
                               : "refused, the value or a slope becomes worse");
        return 0;
    }
    mean = hg_replace(q->e, q->mean, 1, &node, &to);
    int tables = (hg_at(q->e, node)->vary & (HG_I | HG_J)) != 0;
    struct hg_accuracy *a = q->measured++ < MOST_MEASURED ? hg_accuracy_measure(q->m, mean, q->box) : NULL;
    if (!a)
        return 0;
    struct verdict v = judge(q->accuracy, a);
    int slower = functions(q->e, a) > functions(q->e, q->accuracy);
    const char *why = reason(q, &v, slower, tables);
    const char *applied = "applied";
    if (v.name && v.after < v.before)
        applied = hg_format(q->e->arena, "applied, %s from %.3g ulp to %.3g", v.name, v.before, v.after);
    tell(q, r, node, before, after, why ? why : applied);
    if (why)
        return 0;
    if (hg_at(q->e, node)->name)
        hg_name(q->e, to, hg_at(q->e, node)->name);
    for (hg_id id = first; id < last; id++) /* a replacement is not rewritten itself */
        for (uint32_t k = 0; k < hg_nrule; k++)
            (void)is_new(q, id, k);
    q->mean = mean;
    q->accuracy = a;
    return 1;
}

/* One rule at one node of the mean, the first that has not been tried; 0 when there is none. */
static int next_candidate(struct pass *q)
{
    HG_SCRATCH unsigned char *need = hg_zeros(q->mean + 1, 1);
    int found = 0;
    hg_mark(q->e, q->mean, need);
    for (hg_id id = 1; id <= q->mean && !found; id++)
        for (uint32_t r = 0; need[id] && r < hg_nrule && !found; r++)
            found = hg_at(q->e, id)->nargs && is_new(q, id, r) && try_rule(q, id, r);
    q->applied += (uint32_t)found;
    return found;
}

int hg_stability(struct hg_model *m, struct hg_variant *v, struct hg_analysis *found, struct hg_diag *d, FILE *explain)
{
    struct pass q = {.m = m, .e = m->expr, .mean = v->mean, .explain = explain};
    q.box = hg_places_new(m);
    q.accuracy = hg_accuracy_measure(m, v->mean, q.box);
    q.value = hg_zeros((size_t)MOST_VALUES * V, sizeof *q.value);
    if (explain)
        fprintf(explain, "rewrites of model %s, variant %s:\n", m->name, v->name);
    while (q.applied < MOST_APPLIED && q.work < MOST_WORK && next_candidate(&q))
        ;
    if (explain && q.work >= MOST_WORK)
        fprintf(explain, "  a large model: further candidates were not tried\n");
    if (explain)
        fprintf(explain, "  %u applied\n", q.applied);
    free(q.value);
    m->expr->line = 0;
    v->mean = q.mean;
    found->accuracy = q.accuracy;
    return hg_accuracy_judge(m, q.accuracy, d);
}
