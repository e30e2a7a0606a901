/* separate.c -- transcendental functions of differences become products of tables. */
#include "structure/separate.h"


enum { BIG = HG_I | HG_J | HG_R };

static void note(struct hg_plan *p, struct hg_separation *s, hg_id id, int refused, const char *text)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (s->note[k].id == id)
            return;
    if (s->n == s->room)
        s->note = hg_grow(p->e->arena, s->note, s->n, s->n + 8, sizeof *s->note, &s->room);
    s->note[s->n++] = (struct hg_note){id, text, refused};
}

/* x = coefficient * delta(potential) + ... + shift */
struct linear_form {
    hg_id u;           /* sum of coefficient * potential: a function of time */
    hg_id shift;       /* 0: none */
    uint32_t nterm;
    hg_id coefficient; /* of the only term, when nterm = 1; 0 stands for 1 */
    hg_id delta;       /* of the only term */
};

static int is_scalar(const struct hg_expr *e, hg_id id)
{
    return !(hg_at(e, id)->vary & ~(unsigned)HG_G);
}

static int add_term(struct hg_plan *p, hg_id term, struct linear_form *f);

/* Scalars times a sum, as in the square of exp(a + b): term by term. 0: not of this form. */
static int add_scaled_sum(struct hg_plan *p, const struct hg_node *n, struct linear_form *f)
{
    struct hg_expr *e = p->e;
    hg_id *scalar = hg_alloc(e->arena, n->nargs * sizeof *scalar), sum = 0;
    uint32_t ns = 0;
    for (uint32_t k = 0; k < n->nargs; k++) {
        if (is_scalar(e, n->arg[k]))
            scalar[ns++] = n->arg[k];
        else if (hg_at(e, n->arg[k])->op == HG_SUM && !sum)
            sum = n->arg[k];
        else
            return 0;
    }
    if (!sum)
        return 0;
    const struct hg_node s = *hg_at(e, sum);
    hg_id factor = hg_prod(e, ns, scalar);
    for (uint32_t k = 0; k < s.nargs; k++)
        if (!add_term(p, hg_mul(e, factor, s.arg[k]), f))
            return 0;
    return 1;
}

/* One term: scalars times one delta, or times a sum of such terms. */
static int add_term(struct hg_plan *p, hg_id term, struct linear_form *f)
{
    struct hg_expr *e = p->e;
    const struct hg_node n = *hg_at(e, term);
    hg_id *scalar = hg_alloc(e->arena, (n.nargs + 1) * sizeof *scalar), delta = 0, u;
    uint32_t ns = 0;
    if (is_scalar(e, term)) {
        f->shift = f->shift ? hg_add(e, f->shift, term) : term;
        return 1;
    }
    if (n.op == HG_DELTA)
        delta = term;
    else if (n.op != HG_PROD)
        return 0;
    else if (add_scaled_sum(p, &n, f))
        return 1;
    for (uint32_t k = 0; n.op == HG_PROD && k < n.nargs; k++) {
        if (is_scalar(e, n.arg[k]))
            scalar[ns++] = n.arg[k];
        else if (hg_at(e, n.arg[k])->op == HG_DELTA && !delta)
            delta = n.arg[k];
        else
            return 0;
    }
    if (!delta)
        return 0;
    f->nterm++;
    f->delta = delta;
    f->coefficient = ns ? hg_plan_local(p, ns == 1 ? scalar[0] : hg_prod(e, ns, scalar)) : 0;
    u = hg_at(e, delta)->arg[0];
    if (f->coefficient) {
        const struct hg_node P = *hg_at(e, u);
        u = hg_mul(e, f->coefficient, u);
        if (P.op == HG_POTENTIAL && hg_at(e, P.arg[0])->name)
            hg_name(e, u, hg_format(e->arena, "u_%s", hg_at(e, P.arg[0])->name));
    }
    f->u = f->u ? hg_add(e, f->u, u) : u;
    return 1;
}

static int linear_form(struct hg_plan *p, hg_id x, struct linear_form *f)
{
    const struct hg_node n = *hg_at(p->e, x);
    *f = (struct linear_form){0};
    if (n.op != HG_SUM)
        return add_term(p, x, f) && f->nterm;
    for (uint32_t k = 0; k < n.nargs; k++)
        if (!add_term(p, n.arg[k], f))
            return 0;
    return f->nterm > 0;
}

static hg_id scalar_call(struct hg_plan *p, enum hg_op f, hg_id x)
{
    return hg_plan_local(p, hg_call(p->e, f, x));
}

/* sin(d u + s) = sin(d u) cos s + cos(d u) sin s, and the like for cos */
static hg_id rotated(struct hg_plan *p, enum hg_op f, const struct linear_form *x)
{
    struct hg_expr *e = p->e;
    hg_id s = hg_raw(e, HG_SIND, 1, &x->u), c = hg_raw(e, HG_COSD, 1, &x->u);
    if (!x->shift)
        return f == HG_SIN ? s : c;
    hg_id ss = scalar_call(p, HG_SIN, x->shift), cs = scalar_call(p, HG_COS, x->shift);
    if (f == HG_SIN)
        return hg_add(e, hg_mul(e, s, cs), hg_mul(e, c, ss));
    return hg_sub(e, hg_mul(e, c, cs), hg_mul(e, s, ss));
}

/* 1/x = (1/a) (1/delta P) */
static hg_id reciprocal(struct hg_plan *p, hg_id x, const struct linear_form *f)
{
    struct hg_expr *e = p->e;
    hg_id minus = hg_const(e, -1.0);
    if (f->nterm != 1)
        return hg_pow(e, x, minus);
    hg_id inverse = hg_pow(e, f->delta, minus);
    if (f->coefficient && hg_at(e, f->coefficient)->name)
        hg_name(e, hg_plan_local(p, hg_pow(e, f->coefficient, minus)),
                hg_format(e->arena, "inv_%s", hg_at(e, f->coefficient)->name));
    return f->coefficient ? hg_mul(e, hg_plan_local(p, hg_pow(e, f->coefficient, minus)), inverse) : inverse;
}

static hg_id guarded_sinc(struct hg_plan *p, enum hg_op f, hg_id x, const struct linear_form *form)
{
    struct hg_expr *e = p->e;
    hg_id inverse = reciprocal(p, x, form), xx = hg_pow(e, x, hg_const(e, 2.0));
    hg_id quotient = hg_hold(e, hg_mul(e, hg_raw(e, HG_SIND, 1, &form->u), inverse)); /* one for both functions */
    hg_id series[2] = {x, xx}, arg[3];
    arg[0] = hg_raw(e, HG_SMALL, 1, &x);
    if (f == HG_SINC) {
        arg[1] = hg_raw(e, HG_SINC_SERIES, 1, &xx);
        arg[2] = quotient;
    } else {
        arg[1] = hg_raw(e, HG_DSINC_SERIES, 2, series);
        arg[2] = hg_mul(e, hg_sub(e, hg_raw(e, HG_COSD, 1, &form->u), quotient), inverse);
    }
    return hg_raw(e, HG_GUARD, 3, arg);
}

static hg_id separate_call(struct hg_plan *p, hg_id id, enum hg_op f, hg_id x, struct hg_separation *s)
{
    struct linear_form form;
    struct hg_expr *e = p->e;
    hg_id r;
    if (!linear_form(p, x, &form)) {
        note(p, s, id, 1, "the argument is not a sum of (scalar) x (difference of a table): computed per pair");
        return hg_call(e, f, x);
    }
    switch (f) {
    case HG_EXP:
        note(p, s, id, 0, "product of two tables re-centred per tile; per pair in a tile where they overflow");
        r = hg_raw(e, HG_EXPD, 1, &form.u);
        return form.shift ? hg_mul(e, scalar_call(p, HG_EXP, form.shift), r) : r;
    case HG_SIN:
    case HG_COS: note(p, s, id, 0, "angle addition from tables of sin and cos"); return rotated(p, f, &form);
    default: break;
    }
    if (form.shift) {
        note(p, s, id, 1, "the argument has a constant part: its zero is not at equal frames");
        return hg_call(e, f, x);
    }
    note(p, s, id, 0, "quotient of table forms, series for |x| < 0.5; 1/x as 1/scalar times 1/difference");
    return guarded_sinc(p, f, x, &form);
}

hg_id hg_separate(struct hg_plan *p, hg_id root, struct hg_separation *s)
{
    HG_SCRATCH hg_id *map = hg_zeros(root + 1, sizeof *map);
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    need[root] = 1;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(p->e, id);
        int leaf = !(n->vary & BIG) || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA;
        for (uint32_t k = 0; need[id] && !leaf && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= root; id++) {
        const struct hg_node n = *hg_at(p->e, id);
        if (!need[id])
            continue;
        map[id] = id;
        if (!(n.vary & BIG) || n.op == HG_AT_I || n.op == HG_AT_J || n.op == HG_DELTA || n.nargs == 0)
            continue;
        hg_id *arg = hg_alloc(p->e->arena, n.nargs * sizeof *arg);
        for (uint32_t k = 0; k < n.nargs; k++)
            arg[k] = map[n.arg[k]];
        p->e->line = n.line;
        if ((n.op == HG_EXP || n.op == HG_SIN || n.op == HG_COS || n.op == HG_SINC || n.op == HG_DSINC) &&
            (n.vary & (HG_I | HG_J)) == (HG_I | HG_J))
            map[id] = separate_call(p, id, n.op, arg[0], s);
        else
            map[id] = hg_make(p->e, n.op, n.nargs, arg);
        if (n.name)
            hg_name(p->e, map[id], n.name);
    }
    hg_id r = map[root];
    p->e->line = 0;
    return r;
}
