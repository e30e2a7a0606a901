/* degenerate_name.c -- a degeneracy in words: the combinations that stay determined, the sentence, the proof.
 *
 * Combinations are first integrals of the vector field. Two parameters a, b with da/db = r on the orbit, where r =
 * -(dN/db)/(dN/da) at a node N that contains both:
 *     r free of a and b:        a - r b                    D0 + D_offset
 *     r = a g, g free of a, b:  a exp(-g b)                f0 exp(-f1 f2)
 *     r = n a/b, n a number:    a b^-n                     a b, a/b
 * Several a and one x of which a factor P is made: a P for every a, when da/dx = -a P'/P (v0 cos(phi + phi0)).
 *
 * The proof. L = sum c_k d/dtheta_k is a derivation, so L annihilates a node when it annihilates its operands, or when
 * L node simplifies to 0 with the special value inserted; from the leaves to the mean. Before the proof, choices
 * (where) with the same result at all points tried are replaced by the branch taken, sums are taken out of integrals
 * and products are multiplied out, so that equal expressions look equal.
 */
#include "judge/degenerate.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "graph/eval.h"
#include "model/formula.h"
#include "graph/loop.h"

enum { MAX_TERMS = 200 };

struct naming {
    const struct hg_probe *p;
    struct hg_expr *e;
    struct hg_degeneracies *all;
    struct hg_degeneracy *d;
    const double *c;          /* HG_SETS x n */
    hg_id mean;               /* regular form of the mean */
    hg_id *leaf;              /* n */
    hg_id *field;             /* n coefficients of the vector field; 0: not known */
};

/* --- a regular form of the mean ----------------------------------------------------------------------- */

/* Per node whether a condition was seen false (1), true (2). */
struct branches {
    const struct hg_expr *e;
    hg_id n;
    unsigned char *need, *seen;
};

static int note_branches(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct branches *b = user;
    (void)group;
    for (hg_id id = 1; id < b->n; id++) {
        const struct hg_node *x = hg_at(b->e, id);
        if (!b->need[id] || (x->op != HG_LT && x->op != HG_LE))
            continue;
        for (size_t k = 0; k < hg_extent(b->e, id, HG_FRAMES); k++)
            b->seen[id] |= hg_eval_get(ev, id, k).v != 0 ? 2 : 1;
    }
    return 0;
}

/* Integral and difference of a sum: term by term, without factors that do not vary with time. */
static hg_id linear_in_time(struct hg_expr *e, enum hg_op op, hg_id f)
{
    const struct hg_node n = *hg_at(e, f);
    if (n.op == HG_SUM) {
        hg_id *term = hg_alloc(e->arena, n.nargs * sizeof *term);
        for (uint32_t k = 0; k < n.nargs; k++)
            term[k] = linear_in_time(e, op, n.arg[k]);
        return hg_sum(e, n.nargs, term);
    }
    if (n.op == HG_PROD && (n.vary & HG_T)) {
        hg_id *in = hg_alloc(e->arena, n.nargs * sizeof *in), *out = hg_alloc(e->arena, n.nargs * sizeof *out);
        uint32_t nin = 0, nout = 0;
        for (uint32_t k = 0; k < n.nargs; k++)
            if (hg_at(e, n.arg[k])->vary & HG_T)
                in[nin++] = n.arg[k];
            else
                out[nout++] = n.arg[k];
        if (nout)
            return hg_mul(e, hg_prod(e, nout, out), hg_make(e, op, 1, (hg_id[]){hg_prod(e, nin, in)}));
    }
    return hg_make(e, op, 1, &f);
}

/* Terms of the product multiplied out; more than MAX_TERMS: MAX_TERMS + 1. */
static uint32_t terms_of(const struct hg_expr *e, uint32_t nargs, const hg_id *arg)
{
    uint64_t n = 1;
    for (uint32_t k = 0; k < nargs && n <= MAX_TERMS; k++)
        n *= hg_at(e, arg[k])->op == HG_SUM ? hg_at(e, arg[k])->nargs : 1;
    return n <= MAX_TERMS ? (uint32_t)n : MAX_TERMS + 1;
}

/* Products of sums multiplied out, as long as they stay short. */
static hg_id multiplied_out(struct hg_expr *e, uint32_t nargs, const hg_id *arg)
{
    const uint32_t nterm = terms_of(e, nargs, arg);
    if (nterm == 1 || nterm > MAX_TERMS)
        return hg_prod(e, nargs, arg);
    hg_id *term = hg_alloc(e->arena, nterm * sizeof *term), *f = hg_alloc(e->arena, nargs * sizeof *f);
    for (uint32_t i = 0; i < nterm; i++) {
        uint32_t rest = i;
        for (uint32_t k = 0; k < nargs; k++) {
            const struct hg_node *n = hg_at(e, arg[k]);
            f[k] = n->op == HG_SUM ? n->arg[rest % n->nargs] : arg[k];
            rest /= n->op == HG_SUM ? n->nargs : 1;
        }
        term[i] = hg_prod(e, nargs, f);
    }
    return hg_sum(e, nterm, term);
}

/* The sums and products at the top, to a depth, multiplied out; each node once, however many use it. */
static hg_id expanded(struct hg_expr *e, hg_id root)
{
    enum { DEPTH = 7 };
    HG_SCRATCH unsigned char *left = hg_zeros(root + 1, 1); /* levels still to multiply out */
    HG_SCRATCH hg_id *map = hg_zeros(root + 1, sizeof *map);
    left[root] = DEPTH;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(e, id);
        for (uint32_t k = 0; left[id] > 1 && (n->op == HG_SUM || n->op == HG_PROD) && k < n->nargs; k++)
            left[n->arg[k]] = left[n->arg[k]] < left[id] - 1 ? (unsigned char)(left[id] - 1) : left[n->arg[k]];
    }
    for (hg_id id = 1; id <= root; id++) {
        const struct hg_node n = *hg_at(e, id);
        map[id] = id;
        if (!left[id] || (n.op != HG_SUM && n.op != HG_PROD))
            continue;
        hg_id *arg = hg_alloc(e->arena, n.nargs * sizeof *arg);
        for (uint32_t k = 0; k < n.nargs; k++)
            arg[k] = map[n.arg[k]];
        map[id] = n.op == HG_SUM ? hg_sum(e, n.nargs, arg) : multiplied_out(e, n.nargs, arg);
    }
    return map[root];
}

static hg_id regular_node(struct hg_expr *e, hg_id id, const hg_id *map, const unsigned char *seen)
{
    const struct hg_node n = *hg_at(e, id);
    hg_id *arg = hg_alloc(e->arena, (n.nargs + 1) * sizeof *arg);
    if (n.nargs == 0)
        return id;
    for (uint32_t k = 0; k < n.nargs; k++)
        arg[k] = map[n.arg[k]];
    if ((n.op == HG_WHERE || n.op == HG_GUARD) && (seen[n.arg[0]] == 1 || seen[n.arg[0]] == 2))
        return arg[seen[n.arg[0]] == 2 ? 1 : 2];
    if (n.op == HG_POTENTIAL || n.op == HG_DELTA)
        return linear_in_time(e, n.op, arg[0]);
    return hg_make(e, n.op, n.nargs, arg);
}

static hg_id regular_form(struct naming *w)
{
    struct hg_expr *e = w->e;
    hg_id root = w->p->mean, n = root + 1;
    HG_SCRATCH unsigned char *need = hg_zeros(n, 1), *seen = hg_zeros(n, 1);
    HG_SCRATCH hg_id *map = hg_zeros(n, sizeof *map);
    double *theta = hg_alloc(e->arena, (w->p->nparam + 1) * sizeof *theta);
    hg_mark(e, root, need);
    struct branches b = {e, n, need, seen};
    for (uint32_t s = 0; s < w->p->nset; s++) {
        hg_probe_set(w->p, s, theta);
        if (w->d->condition >= 0)
            theta[w->d->condition] = w->d->value;
        hg_probe_run(w->p, w->p->value, theta, w->d->kind == FIT_DEGENERATE_ONE_GROUP ? 1 : HG_GROUPS, note_branches,
                     &b);
    }
    for (hg_id id = 1; id < n; id++)
        if (need[id])
            map[id] = regular_node(e, id, map, seen);
    return map[root];
}

/* --- small tools -------------------------------------------------------------------------------------- */

/* Inserts the special value. */
static hg_id at_condition(struct naming *w, hg_id id)
{
    if (w->d->condition < 0)
        return id;
    hg_id from = hg_symbol(w->e, HG_PARAM, (uint32_t)w->d->condition), to = hg_const(w->e, w->d->value);
    return hg_contains(w->e, id, from) ? hg_replace(w->e, id, 1, &from, &to) : id;
}

static int contains_any(struct naming *w, hg_id id)
{
    for (uint32_t k = 0; k < w->d->n; k++)
        if (hg_contains(w->e, id, w->leaf[k]))
            return 1;
    return 0;
}

/* May a coefficient vary in this way? Not with the data; with the group only when there is one. */
static int is_coefficient(const struct naming *w, hg_id id)
{
    unsigned allowed = w->d->kind == FIT_DEGENERATE_ONE_GROUP ? HG_G : 0;
    return !(hg_at(w->e, id)->vary & ~allowed);
}

static int is_free_of(struct naming *w, hg_id id, hg_id a, hg_id b)
{
    return !hg_contains(w->e, id, a) && !hg_contains(w->e, id, b);
}

static void add_combination(struct naming *w, hg_id id)
{
    struct hg_degeneracies *all = w->all;
    const char *unit = hg_model_unit_text(w->p->m, id);
    if (w->d->ncombination == 0)
        w->d->first = all->ncombination;
    all->combination = hg_grow(w->e->arena, all->combination, all->ncombination, all->ncombination + 1,
                               sizeof *all->combination, &all->combination_room);
    all->combination[all->ncombination++] = (struct hg_combination){id, hg_formula(w->e, id), unit ? unit : ""};
    w->d->ncombination++;
}

/* --- the proof ---------------------------------------------------------------------------------------- */

static hg_id along_field(struct naming *w, hg_id id)
{
    hg_id *term = hg_alloc(w->e->arena, w->d->n * sizeof *term);
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->d->n; k++)
        if (hg_contains(w->e, id, w->leaf[k]))
            term[n++] = hg_mul(w->e, w->field[k], hg_diff(w->e, id, w->leaf[k]));
    return expanded(w->e, at_condition(w, hg_sum(w->e, n, term)));
}

static int is_annihilated(struct naming *w)
{
    hg_id n = w->mean + 1;
    HG_SCRATCH unsigned char *need = hg_zeros(n, 1), *zero = hg_zeros(n, 1);
    hg_mark(w->e, w->mean, need);
    for (hg_id id = 1; id < n; id++) {
        if (!need[id])
            continue;
        const struct hg_node x = *hg_at(w->e, id);
        int all = x.op != HG_PARAM && x.op != HG_LINEAR;
        for (uint32_t k = 0; k < x.nargs; k++)
            all &= zero[x.arg[k]];
        zero[id] = (unsigned char)(all || !contains_any(w, id) ||
                                   (x.nargs && hg_is_value(w->e, along_field(w, id), 0.0)));
    }
    return zero[w->mean];
}

/* --- combinations ------------------------------------------------------------------------------------- */

/* a and b, by the slope r = da/db of their orbit. In each form the combination is linear in a, and a remains when b
 * is fixed: b may be fixed. */
static int integrate(struct naming *w, hg_id a, hg_id b, hg_id r)
{
    struct hg_expr *e = w->e;
    hg_id g = hg_div(e, r, a), n = hg_mul(e, g, b);
    double c;
    if (is_free_of(w, r, a, b))
        add_combination(w, hg_sub(e, a, hg_mul(e, r, b)));
    else if (hg_is_const(e, n, &c))
        add_combination(w, hg_mul(e, a, hg_pow(e, b, hg_const(e, -c))));
    else if (is_free_of(w, g, a, b))
        add_combination(w, hg_mul(e, a, hg_call(e, HG_EXP, hg_neg(e, hg_mul(e, g, b)))));
    else
        return 0;
    return 1;
}

/* Two parameters: the slope of the orbit from the lowest node that contains both. */
static int name_pair(struct naming *w)
{
    struct hg_expr *e = w->e;
    hg_id a = w->leaf[0], b = w->leaf[1], top = w->mean;
    HG_SCRATCH unsigned char *need = hg_zeros(top + 1, 1);
    int found = 0, tried = 0;
    hg_mark(e, top, need);
    for (hg_id id = 1; id <= top && !found && tried < 12; id++) {
        if (!need[id] || !hg_contains(e, id, a) || !hg_contains(e, id, b))
            continue;
        tried++;
        hg_id da = expanded(e, at_condition(w, hg_diff(e, id, a)));
        hg_id db = expanded(e, at_condition(w, hg_diff(e, id, b)));
        if (hg_is_value(e, da, 0.0))
            continue;
        hg_id r = hg_neg(e, hg_div(e, db, da));
        if (!is_coefficient(w, r))
            continue;
        w->field[0] = r;
        w->field[1] = hg_const(e, 1.0);
        found = integrate(w, a, b, r);
        w->field[0] = found ? r : 0;
    }
    return found;
}

/* Compares the slopes -a P'/P with the numerical ones, at every set. */
static int slopes_agree(struct naming *w, uint32_t x, hg_id slope)
{
    struct hg_eval *ev = hg_eval_new(w->e, 1, &slope);
    double *theta = hg_alloc(w->e->arena, (w->p->nparam + 1) * sizeof *theta);
    int agree = 1;
    for (uint32_t s = 0; s < w->p->nset && agree; s++) {
        const double *c = w->c + s * w->d->n;
        hg_probe_set(w->p, s, theta);
        struct hg_point at = {.param = theta, .setting = w->p->setting, .coord = w->p->coord[0],
                              .linear = w->p->linear[0], .time = w->p->time, .ntime = HG_FRAMES, .step = w->p->step};
        if (w->d->condition >= 0)
            theta[w->d->condition] = w->d->value;
        hg_eval_run(ev, &at);
        double g = (double)hg_eval_get(ev, slope, 0).v;
        for (uint32_t k = 0; k < w->d->n; k++)
            if (k != x) {
                double want = g * theta[w->d->param[k]];
                agree &= fabs(c[k] / c[x] - want) <= 1e-9 * fabs(want);
            }
    }
    hg_eval_free(ev);
    return agree;
}

/* A factor P made of parameter x alone: a P is determined for every other a. */
static int name_factor(struct naming *w)
{
    struct hg_expr *e = w->e;
    HG_SCRATCH unsigned char *need = hg_zeros(w->mean + 1, 1);
    int found = 0;
    hg_mark(e, w->mean, need);
    for (uint32_t x = 0; x < w->d->n && !found; x++)
        for (hg_id id = 1; id <= w->mean && !found; id++) {
            if (!need[id] || id == w->leaf[x] || !is_coefficient(w, id) || !hg_contains(e, id, w->leaf[x]))
                continue;
            int alone = 1;
            for (uint32_t k = 0; k < w->d->n; k++)
                alone &= k == x || !hg_contains(e, id, w->leaf[k]);
            if (!alone)
                continue;
            hg_id slope = hg_neg(e, hg_div(e, hg_diff(e, id, w->leaf[x]), id));
            if (!slopes_agree(w, x, slope))
                continue;
            for (uint32_t k = 0; k < w->d->n; k++) {
                w->field[k] = k == x ? hg_const(e, 1.0) : hg_mul(e, slope, w->leaf[k]);
                if (k != x)
                    add_combination(w, hg_mul(e, w->leaf[k], id));
            }
            found = 1;
        }
    return found;
}

/* --- the sentence ------------------------------------------------------------------------------------- */

/* "a, b and c" */
static const char *list_of(struct naming *w, uint32_t n, const char *(*item)(struct naming *, uint32_t))
{
    const char *s = "";
    for (uint32_t k = 0; k < n; k++)
        s = hg_format(w->e->arena, "%s%s%s", s, k == 0 ? "" : k + 1 == n ? " and " : ", ", item(w, k));
    return s;
}

static const char *parameter_text(struct naming *w, uint32_t k)
{
    return hg_model_unknown(w->p->m, w->d->param[k])->name;
}

static const char *combination_text(struct naming *w, uint32_t k)
{
    return w->all->combination[w->d->first + k].text;
}

static const char *where_text(struct naming *w)
{
    const struct hg_model *m = w->p->m;
    if (w->d->kind == FIT_DEGENERATE_ONE_GROUP)
        return hg_format(w->e->arena, "with one value of %s ", m->axis.n ? m->axis.item[0].name : "the group");
    return w->d->condition < 0 ? "" : hg_format(w->e->arena, "at %s = %g ", m->param.item[w->d->condition].name,
                                                w->d->value);
}

static void write_text(struct naming *w)
{
    struct hg_degeneracy *d = w->d;
    const char *where = where_text(w), *who = list_of(w, d->n, parameter_text);
    struct hg_arena *a = w->e->arena;
    if (d->each)
        d->text = hg_format(a, "%s%s %s no effect", where, who, d->n == 1 ? "has" : "have");
    else if (d->ncombination == 1)
        d->text = hg_format(a, "%s%s enter only as %s: only this combination is determined", where, who,
                            combination_text(w, 0));
    else if (d->ncombination)
        d->text = hg_format(a, "%s%s enter only as %s: only these are determined", where, who,
                            list_of(w, d->ncombination, combination_text));
    else
        d->text = hg_format(a, "%s%s depend on one another: only %u combination%s of these %u is determined", where,
                            who, d->n - 1, d->n == 2 ? "" : "s", d->n);
}

void hg_degenerate_name(const struct hg_probe *p, struct hg_degeneracies *all, struct hg_degeneracy *d,
                        const double *c)
{
    struct hg_expr *e = p->m->expr;
    struct naming w = {.p = p, .e = e, .all = all, .d = d, .c = c};
    int linear = 0, single = d->each;
    w.leaf = hg_alloc(e->arena, d->n * sizeof *w.leaf);
    w.field = hg_alloc(e->arena, d->n * sizeof *w.field);
    for (uint32_t k = 0; k < d->n; k++) {
        linear |= d->param[k] >= p->nparam;
        w.leaf[k] = d->param[k] < p->nparam ? hg_symbol(e, HG_PARAM, d->param[k])
                                            : hg_symbol(e, HG_LINEAR, d->param[k] - p->nparam);
        w.field[k] = 0;
    }
    w.mean = regular_form(&w);
    int known = single;
    for (uint32_t k = 0; single && k < d->n; k++)
        w.field[k] = hg_const(e, k + 1 == d->n); /* the new one; those before are proved or not */
    if (!single)
        known = (d->n == 2 && name_pair(&w)) || (!linear && name_factor(&w));
    int proved = known && is_annihilated(&w);
    if (d->kind == FIT_DEGENERATE_EVERYWHERE && !linear && d->n == (single ? 1u : 2u) && proved)
        d->held = (int)d->param[d->n - 1];
    d->proved = d->text ? d->proved && proved : proved;
    write_text(&w);
    if (linear) { /* kernels know only combinations of the nonlinear parameters */
        all->ncombination -= d->ncombination;
        d->ncombination = 0;
    }
}
