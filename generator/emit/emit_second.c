/* emit_second.c -- second derivatives of the mean at single points: hessian, and second along a direction.
 *
 * The mean is a function of few inputs x_a: differences of tables, table entries at a frame, scalars. With tangents
 * x_a,k and tangents of tangents x_a,kl (tables again, since integrals commute with differentiation)
 *
 *     d2 mean / d theta_k d theta_l = sum_a  x_a,k sum_b m_ab x_b,l  +  sum_a m_a x_a,kl
 *
 * m_a and m_ab are derivatives by inputs, however many parameters there are. Along a direction v the inputs move as x_a
 * + eps y_a + eps^2 z_a / 2, where y and z come from one and from two forward sweeps with the parameters moving at the
 * rates v (tangent of tangent; Griewank & Walther, Evaluating Derivatives, 2008, chapter 13), and
 *
 *     d2 mean / d eps2 = second forward sweep over the mean with  x -> y,  y -> z,  lin -> v_lin.
 *
 * Inputs from tables become INPUT nodes, opaque to simplification. It would gather factors of one frame into new
 * tables, and the second sweep could not separate them again.
 */
#include "emit/emit_points.h"


struct input {
    hg_id leaf;              /* AT_I, AT_J, DELTA or LOCAL in the mean */
    hg_id x;                 /* INPUT node, or the LOCAL itself */
    enum hg_input_kind kind;
    hg_id def;               /* function of time, or scalar */
    hg_id *tangent;          /* [nparam] d def / d theta_k; 0: none */
    hg_id *u;                /* [nparam] the same as read at the point; 0: none */
};

struct second {
    struct hg_emit *em;
    struct hg_expr *e;
    uint32_t ninput;
    struct input *input;
    size_t room;
    hg_id *basis, rest; /* of the inputs' x */
    hg_id mean;         /* with the linear parameters */
};

/* --- inputs ------------------------------------------------------------------------------------------- */

static hg_id new_slot(struct second *s, enum hg_input_kind kind, hg_id def, int derivative)
{
    struct hg_emit *em = s->em;
    unsigned vary = hg_at(s->e, def)->vary & HG_G;
    vary |= kind != HG_INPUT_AT_J ? HG_I : 0u;
    vary |= kind != HG_INPUT_AT_I ? HG_J : 0u;
    if (em->nslot == 0)
        em->slot_base = s->e->n; /* refs not used by another INPUT of this graph */
    if (em->nslot == em->slot_room)
        em->slot = hg_grow(s->e->arena, em->slot, em->nslot, em->nslot + 16, sizeof *em->slot, &em->slot_room);
    em->slot[em->nslot] = (struct hg_input_slot){kind, def, derivative};
    return hg_opaque(s->e, HG_INPUT, em->slot_base + em->nslot++, vary);
}

const char *hg_point_input(struct hg_code *c, hg_id id)
{
    struct hg_points *q = c->user;
    const struct hg_input_slot *s = &q->em->slot[hg_at(c->e, id)->ref - q->em->slot_base];
    q->derivative = s->derivative;
    switch (s->kind) {
    case HG_INPUT_AT_I: return hg_point_at(c, s->def, "i", NULL);
    case HG_INPUT_AT_J: return hg_point_at(c, s->def, "j", NULL);
    default: break;
    }
    if (s->derivative || !hg_emit_has_low(q->em, s->def))
        return hg_point_delta(c, s->def, hg_at(c->e, s->def)->name);
    const char *f = hg_emit_field(q->em, HG_FIELD_FRAME, s->def, 0)->name;
    return hg_point_delta_low(c, s->def, hg_format(c->e->arena, "d_%s", f));
}

/* A derivative of an input's definition as read at the point; 0 when it is zero. */
static hg_id seen(struct second *s, const struct input *in, hg_id def, int derivative)
{
    if (!def || hg_is_value(s->e, def, 0.0))
        return 0;
    if (in->kind == HG_INPUT_SCALAR)
        return hg_plan_local(s->em->p, def);
    if (hg_at(s->e, def)->vary & HG_T)
        return new_slot(s, in->kind, def, derivative);
    return in->kind == HG_INPUT_DELTA ? 0 : hg_plan_local(s->em->p, def);
}

static void add_input(struct second *s, hg_id leaf, enum hg_input_kind kind)
{
    struct hg_plan *p = s->em->p;
    const struct hg_node n = *hg_at(s->e, leaf);
    struct input in = {.leaf = leaf, .kind = kind};
    int active = 0;
    in.def = kind == HG_INPUT_SCALAR ? p->local[n.ref].def : n.arg[0];
    in.tangent = hg_alloc(s->e->arena, (p->nparam + 1) * sizeof *in.tangent);
    in.u = hg_alloc(s->e->arena, (p->nparam + 1) * sizeof *in.u);
    for (uint32_t k = 0; k < p->nparam; k++) {
        hg_id t = hg_diff(s->e, in.def, p->param[k]);
        in.tangent[k] = hg_is_value(s->e, t, 0.0) ? 0 : t;
        active |= in.tangent[k] != 0;
    }
    if (!active)
        return;
    in.x = kind == HG_INPUT_SCALAR ? leaf : new_slot(s, kind, in.def, 0);
    for (uint32_t k = 0; k < p->nparam; k++)
        in.u[k] = seen(s, &in, in.tangent[k], 2);
    if (s->ninput == s->room)
        s->input = hg_grow(s->e->arena, s->input, s->ninput, s->ninput + 8, sizeof in, &s->room);
    s->input[s->ninput++] = in;
}

/* The inputs of basis functions and rest that depend on parameters. */
static void find_inputs(struct second *s)
{
    const struct hg_plan *p = s->em->p;
    hg_id top = p->rest;
    for (uint32_t q = 0; q < p->nlinear; q++)
        top = p->basis[q] > top ? p->basis[q] : top;
    HG_SCRATCH unsigned char *need = hg_zeros(top + 1, 1);
    enum hg_input_kind kind;
    for (uint32_t q = 0; q < p->nlinear; q++)
        need[p->basis[q]] = 1;
    need[p->rest] = 1;
    for (hg_id id = top; id > 0; id--) {
        const struct hg_node *n = hg_at(s->e, id);
        for (uint32_t k = 0; need[id] && !hg_input_kind_of(n->op, &kind) && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= top; id++)
        if (need[id] && hg_input_kind_of(hg_at(s->e, id)->op, &kind))
            add_input(s, id, kind);
}

/* The mean and its parts as functions of the inputs. */
static void rewrite(struct second *s)
{
    struct hg_plan *p = s->em->p;
    hg_id *from = hg_alloc(s->e->arena, (s->ninput + 1) * sizeof *from);
    hg_id *to = hg_alloc(s->e->arena, (s->ninput + 1) * sizeof *to);
    hg_id *term = hg_alloc(s->e->arena, (p->nlinear + 1) * sizeof *term);
    for (uint32_t a = 0; a < s->ninput; a++) {
        from[a] = s->input[a].leaf;
        to[a] = s->input[a].x;
    }
    s->basis = hg_alloc(s->e->arena, (p->nlinear + 1) * sizeof *s->basis);
    for (uint32_t q = 0; q < p->nlinear; q++) {
        s->basis[q] = hg_replace(s->e, p->basis[q], s->ninput, from, to);
        term[q] = hg_mul(s->e, p->linear[q], s->basis[q]);
    }
    term[p->nlinear] = s->rest = hg_replace(s->e, p->rest, s->ninput, from, to);
    s->mean = hg_sum(s->e, p->nlinear + 1, term);
}

/* --- sums and products as they stand ------------------------------------------------------------------ */

static hg_id raw_product(struct hg_expr *e, hg_id a, hg_id b)
{
    if (!a || !b)
        return 0;
    if (hg_is_const(e, a, NULL) && hg_is_const(e, b, NULL))
        return hg_mul(e, a, b);
    if (hg_is_value(e, a, 1.0))
        return b;
    if (hg_is_value(e, b, 1.0))
        return a;
    hg_id arg[2] = {hg_is_const(e, b, NULL) ? b : a, hg_is_const(e, b, NULL) ? a : b};
    return hg_raw(e, HG_PROD, 2, arg);
}

struct terms {
    hg_id *arg;
    uint32_t n;
};

static void add_term(struct terms *t, hg_id x)
{
    if (x)
        t->arg[t->n++] = x;
}

static hg_id raw_sum(struct hg_expr *e, const struct terms *t)
{
    return t->n == 0 ? 0 : t->n == 1 ? t->arg[0] : hg_raw(e, HG_SUM, t->n, t->arg);
}

static struct terms new_terms(const struct second *s)
{
    return (struct terms){hg_alloc(s->e->arena, (2 * s->ninput + 1) * sizeof(hg_id)), 0};
}

/* d f / d x of input a with its scalars made LOCALs; 0 when it is zero. */
static hg_id by_input(struct second *s, hg_id f, uint32_t a)
{
    hg_id d = hg_diff(s->e, f, s->input[a].x);
    return hg_is_value(s->e, d, 0.0) ? 0 : hg_plan_bundle(s->em->p, d);
}

/* --- hessian ------------------------------------------------------------------------------------------ */

struct partials {
    hg_id *m;  /* [ninput] d mean / d x_a */
    hg_id *mm; /* [ninput][ninput] */
    hg_id *p;  /* [ninput][nparam] sum_b m_ab x_b,l */
};

static struct partials partials(struct second *s)
{
    uint32_t n = s->ninput, K = s->em->p->nparam;
    struct partials d = {hg_alloc(s->e->arena, (n + 1) * sizeof *d.m),
                         hg_alloc(s->e->arena, ((size_t)n * n + 1) * sizeof *d.mm),
                         hg_alloc(s->e->arena, ((size_t)n * K + 1) * sizeof *d.p)};
    for (uint32_t a = 0; a < n; a++) {
        hg_id m = hg_diff(s->e, s->mean, s->input[a].x);
        d.m[a] = hg_is_value(s->e, m, 0.0) ? 0 : hg_plan_bundle(s->em->p, m);
        for (uint32_t b = 0; b <= a; b++)
            d.mm[a * n + b] = d.mm[b * n + a] = by_input(s, m, b);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t l = 0; l < K; l++) {
            struct terms t = new_terms(s);
            for (uint32_t b = 0; b < n; b++)
                add_term(&t, raw_product(s->e, d.mm[a * n + b], s->input[b].u[l]));
            d.p[a * K + l] = raw_sum(s->e, &t);
        }
    return d;
}

/* d2 def / d theta_k d theta_l as read at the point, with a descriptive name. */
static hg_id second_tangent(struct second *s, const struct input *in, uint32_t k, uint32_t l)
{
    const struct hg_model *m = s->em->p->model;
    struct hg_arena *arena = s->e->arena;
    if (!in->tangent[k])
        return 0;
    hg_id t = hg_diff(s->e, in->tangent[k], s->em->p->param[l]);
    const struct hg_node d = *hg_at(s->e, in->def), n = *hg_at(s->e, t);
    const char *end = hg_format(arena, "d%s_d%s", m->param.item[k].name, m->param.item[l].name);
    if (d.op == HG_POTENTIAL && n.op == HG_POTENTIAL && hg_at(s->e, d.arg[0])->name) {
        hg_name(s->e, t, hg_format(arena, "int_d2%s_%s", hg_at(s->e, d.arg[0])->name, end));
        hg_name(s->e, n.arg[0], hg_format(arena, "d2%s_%s", hg_at(s->e, d.arg[0])->name, end));
    } else if (d.name && n.nargs) {
        hg_name(s->e, t, hg_format(arena, "d2%s_%s", d.name, end));
    }
    return seen(s, in, t, 2);
}

static hg_id of_two_nonlinear(struct second *s, const struct partials *d, uint32_t k, uint32_t l)
{
    struct terms t = new_terms(s);
    for (uint32_t a = 0; a < s->ninput; a++) {
        const struct input *in = &s->input[a];
        add_term(&t, raw_product(s->e, in->u[k], d->p[a * s->em->p->nparam + l]));
        if (d->m[a])
            add_term(&t, raw_product(s->e, d->m[a], second_tangent(s, in, k, l)));
    }
    return raw_sum(s->e, &t);
}

static hg_id of_linear(struct second *s, const hg_id *partial, uint32_t k)
{
    struct terms t = new_terms(s);
    for (uint32_t a = 0; a < s->ninput; a++)
        add_term(&t, raw_product(s->e, partial[a], s->input[a].u[k]));
    return raw_sum(s->e, &t);
}

static uint32_t triangle(uint32_t n, uint32_t a, uint32_t b)
{
    return a * n - a * (a + 1) / 2 + b;
}

/* Does the mean contain sums? Their inputs vary with each turn, so derivatives are taken by the parameters
 * themselves. */
static int has_sums(const struct second *s)
{
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)s->em->p->mean + 1, 1);
    int found = 0;
    hg_mark(s->e, s->em->p->mean, need);
    for (hg_id id = s->em->p->mean; id > 0 && !found; id--)
        found = need[id] && hg_at(s->e, id)->op == HG_REDUCE;
    return found;
}

static hg_id by_parameters(struct second *s, uint32_t a, uint32_t b)
{
    const struct hg_plan *p = s->em->p;
    const uint32_t K = p->nparam;
    hg_id x = a < K ? p->param[a] : p->linear[a - K], y = b < K ? p->param[b] : p->linear[b - K];
    hg_id d = hg_diff(s->e, hg_diff(s->e, p->mean, x), y);
    return hg_is_value(s->e, d, 0.0) ? 0 : hg_plan_bundle(s->em->p, d);
}

static hg_id *entries_of_sums(struct second *s)
{
    const uint32_t K = s->em->p->nparam, Q = s->em->p->nlinear, W = K + Q;
    hg_id *H = hg_alloc(s->e->arena, ((size_t)W * (W + 1) / 2 + 1) * sizeof *H);
    for (uint32_t a = 0; a < K; a++)
        for (uint32_t b = a; b < W; b++)
            H[triangle(W, a, b)] = by_parameters(s, a, b);
    return H;
}

/* All entries, packed; 0 where they vanish. */
static hg_id *entries(struct second *s)
{
    uint32_t K = s->em->p->nparam, Q = s->em->p->nlinear, W = K + Q;
    hg_id *H = hg_alloc(s->e->arena, ((size_t)W * (W + 1) / 2 + 1) * sizeof *H);
    hg_id *partial = hg_alloc(s->e->arena, (s->ninput + 1) * sizeof *partial);
    struct partials d = partials(s);
    for (uint32_t k = 0; k < K; k++)
        for (uint32_t l = k; l < K; l++)
            H[triangle(W, k, l)] = of_two_nonlinear(s, &d, k, l);
    for (uint32_t q = 0; q < Q; q++) {
        for (uint32_t a = 0; a < s->ninput; a++)
            partial[a] = by_input(s, s->basis[q], a);
        for (uint32_t k = 0; k < K; k++)
            H[triangle(W, k, K + q)] = of_linear(s, partial, k);
    }
    return H;
}

static void write_hessian(struct second *s, struct hg_tree *out)
{
    uint32_t W = s->em->p->nparam + s->em->p->nlinear, n = W * (W + 1) / 2, nroot = 0;
    hg_id *H = has_sums(s) ? entries_of_sums(s) : entries(s), *root = hg_alloc(s->e->arena, (n + 1) * sizeof *root);
    for (uint32_t k = 0; k < n; k++)
        if (H[k])
            root[nroot++] = H[k];
    struct hg_points q = {.em = s->em};
    struct hg_code c = hg_points_begin(&q, out, nroot, root);
    hg_put(out, "/* Second derivatives by all pairs of parameters, upper triangle row by row. */\n");
    hg_points_head(&c, "hessian", "double *hess");
    hg_declare(c.out, "fit_vd", "H[%u];", n ? n : 1);
    for (uint32_t a = 0; a < W; a++)
        for (uint32_t b = a; b < W; b++) {
            hg_id h = H[triangle(W, a, b)];
            if (h)
                hg_code_need(&c, h);
            hg_do(c.out, "H[%u] = %s; /* %s, %s */", triangle(W, a, b), h ? hg_code_vector(&c, h) : "fit_vset1(0.0)",
                  hg_model_unknown(s->em->p->model, a)->name, hg_model_unknown(s->em->p->model, b)->name);
        }
    hg_do(c.out, "fit_store_rows(hess + p * %u, %u, at.n, H);", n, n);
    hg_points_end(&c);
}

/* --- along a direction -------------------------------------------------------------------------------- */

/* Positions and rates of moving leaves. */
struct sweep {
    hg_id *leaf, *rate;
    uint32_t n;
};

static struct sweep new_sweep(const struct second *s)
{
    size_t most = s->em->p->nparam + s->em->p->nlinear + 2 * s->ninput + 1;
    return (struct sweep){hg_alloc(s->e->arena, most * sizeof(hg_id)), hg_alloc(s->e->arena, most * sizeof(hg_id)), 0};
}

static void moves(struct sweep *w, hg_id leaf, hg_id rate)
{
    if (!leaf || !rate)
        return;
    w->leaf[w->n] = leaf;
    w->rate[w->n++] = rate;
}

static void name_rate(struct second *s, const struct input *in, hg_id rate, const char *form)
{
    const struct hg_node d = *hg_at(s->e, in->def), n = *hg_at(s->e, rate);
    const char *name = d.op == HG_POTENTIAL ? hg_at(s->e, d.arg[0])->name : d.name;
    if (!name || n.nargs == 0)
        return;
    if (d.op == HG_POTENTIAL && n.op == HG_POTENTIAL)
        hg_name(s->e, n.arg[0], hg_format(s->e->arena, form, name));
    hg_name(s->e, rate,
            hg_format(s->e->arena, form, hg_format(s->e->arena, d.op == HG_POTENTIAL ? "int_%s" : "%s", name)));
}

static hg_id along(struct second *s)
{
    struct hg_plan *p = s->em->p;
    struct sweep theta = new_sweep(s), first = new_sweep(s), again = new_sweep(s);
    for (uint32_t k = 0; k < p->nparam; k++)
        moves(&theta, p->param[k], hg_opaque(s->e, HG_DIRECTION, k, 0));
    for (uint32_t q = 0; q < p->nlinear; q++)
        moves(&first, p->linear[q], hg_opaque(s->e, HG_DIRECTION, p->nparam + q, HG_G));
    for (uint32_t a = 0; a < s->ninput; a++) {
        const struct input *in = &s->input[a];
        hg_id y = hg_diff_along(s->e, in->def, theta.n, theta.leaf, theta.rate);
        hg_id z = hg_diff_along(s->e, y, theta.n, theta.leaf, theta.rate);
        name_rate(s, in, y, "d%s_dv");
        name_rate(s, in, z, "d2%s_dv2");
        hg_id seen_y = seen(s, in, y, 3), seen_z = seen(s, in, z, 3);
        moves(&first, in->x, seen_y);
        moves(&again, seen_y, seen_z);
    }
    for (uint32_t k = 0; k < first.n; k++)
        moves(&again, first.leaf[k], first.rate[k]);
    hg_id d = hg_diff_along(s->e, s->mean, first.n, first.leaf, first.rate);
    return hg_plan_bundle(p, hg_diff_along(s->e, d, again.n, again.leaf, again.rate));
}

static void write_second(struct second *s, struct hg_tree *out)
{
    hg_id root = along(s);
    struct hg_points q = {.em = s->em};
    struct hg_code c = hg_points_begin(&q, out, 1, &root);
    hg_put(out, "\n/* Second derivative along the direction whose tables `direction` made. */\n");
    hg_points_head(&c, "second", "double *out");
    hg_code_need(&c, root);
    hg_do(c.out, "fit_store_points(out + p, at.n, %s);", hg_code_vector(&c, root));
    hg_points_end(&c);
}

void hg_emit_second(struct hg_emit *em, struct hg_tree *out)
{
    struct second s = {.em = em, .e = em->e};
    find_inputs(&s);
    rewrite(&s);
    write_hessian(&s, out);
    write_second(&s, out);
}
