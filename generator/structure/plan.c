/* plan.c -- linear parameters, the cut between small and big index sets, channels. */
#include "structure/plan.h"

#include <string.h>

#include "graph/words.h"

enum { BIG = HG_I | HG_J | HG_R, SMALL = HG_G | HG_K };

/* --- scalars ------------------------------------------------------------------------------------------ */

hg_id hg_plan_local(struct hg_plan *p, hg_id def)
{
    const struct hg_node *n = hg_at(p->e, def);
    if (n->op == HG_CONST || n->op == HG_LOCAL || n->op == HG_INDEX || n->op == HG_NODE)
        return def;
    for (uint32_t k = 0; k < p->nlocal; k++)
        if (p->local[k].def == def)
            return p->local[k].symbol;
    if (n->vary & ~(unsigned)SMALL)
        hg_bug("plan: scalar that varies with frames");
    if (p->nlocal == p->local_room)
        p->local = hg_grow(p->e->arena, p->local, p->nlocal, p->nlocal + 8, sizeof *p->local, &p->local_room);
    uint32_t line = p->e->line;
    p->e->line = n->line;
    hg_id symbol = hg_local(p->e, p->nlocal, def);
    p->e->line = line;
    const char *name = hg_words(p->e, def, NULL, NULL);
    if (name)
        hg_name(p->e, symbol, name);
    p->local[p->nlocal++] = (struct hg_local){symbol, def};
    return symbol;
}

/* 1 when the node contains a linear parameter: these are known in the loop over points, not where scalars are
 * computed. */
static int with_linear(struct hg_plan *p, hg_id id)
{
    p->with_linear = hg_grow(p->e->arena, p->with_linear, p->nwith_linear, p->e->n, 1, &p->with_linear_room);
    for (; p->nwith_linear < p->e->n; p->nwith_linear++) {
        const struct hg_node *n = hg_at(p->e, p->nwith_linear);
        unsigned char *with = &p->with_linear[p->nwith_linear];
        *with = n->op == HG_LINEAR;
        for (uint32_t k = 0; k < n->nargs; k++)
            *with |= p->with_linear[n->arg[k]];
    }
    return p->with_linear[id];
}

static int is_scalar(struct hg_plan *p, hg_id id)
{
    return !(hg_at(p->e, id)->vary & ~(unsigned)SMALL) && !with_linear(p, id);
}

/* Operands of a sum or product with its scalars made into one LOCAL. */
static hg_id bundle_nary(struct hg_plan *p, enum hg_op op, uint32_t n, const hg_id *arg)
{
    struct hg_expr *e = p->e;
    hg_id *in = hg_alloc(e->arena, (n + 1) * sizeof *in), *out = hg_alloc(e->arena, (n + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (is_scalar(p, arg[k]))
            in[nin++] = arg[k];
        else
            out[nout++] = arg[k];
    }
    if (nin)
        out[nout++] = hg_plan_local(p, nin == 1 ? in[0] : hg_make(e, op, nin, in));
    return hg_make(e, op, nout, out);
}

static hg_id bundle_node(struct hg_plan *p, hg_id id, const hg_id *map)
{
    struct hg_expr *e = p->e;
    const struct hg_node n = *hg_at(e, id);
    if (n.op == HG_STATE)
        return hg_opaque(e, HG_CARRIED, (uint32_t)hg_at(e, n.arg[0])->value, HG_R);
    if (n.nargs == 0 || n.op == HG_AT_I || n.op == HG_AT_J || n.op == HG_DELTA)
        return id;
    hg_id *arg = hg_alloc(e->arena, n.nargs * sizeof *arg);
    int nary = n.op == HG_SUM || n.op == HG_PROD;
    for (uint32_t k = 0; k < n.nargs; k++) {
        arg[k] = map[n.arg[k]] ? map[n.arg[k]] : n.arg[k];
        if (!nary && is_scalar(p, arg[k]))
            arg[k] = hg_plan_local(p, arg[k]);
    }
    return nary ? bundle_nary(p, n.op, n.nargs, arg) : hg_make(e, n.op, n.nargs, arg);
}

hg_id hg_plan_bundle(struct hg_plan *p, hg_id root)
{
    if (is_scalar(p, root))
        return hg_plan_local(p, root);
    HG_SCRATCH hg_id *map = hg_zeros(root + 1, sizeof *map);
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    need[root] = 1;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(p->e, id);
        need[id] = need[id] && ((n->vary & BIG) || with_linear(p, id));
        for (uint32_t k = 0; need[id] && n->op != HG_STATE && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= root; id++)
        if (need[id]) {
            p->e->line = hg_at(p->e, id)->line;
            map[id] = bundle_node(p, id, map);
            if (hg_at(p->e, id)->name)
                hg_name(p->e, map[id], hg_at(p->e, id)->name);
        }
    hg_id r = map[root];
    p->e->line = 0;
    return r;
}

/* --- linear parameters -------------------------------------------------------------------------------- */

static int split_linear(struct hg_plan *p, struct hg_diag *d)
{
    struct hg_expr *e = p->e;
    hg_id zero = hg_const(e, 0.0);
    hg_id *zeros = hg_alloc(e->arena, (p->nlinear + 1) * sizeof *zeros);
    p->intercept = -1;
    for (uint32_t q = 0; q < p->nlinear; q++) {
        zeros[q] = zero;
        p->basis[q] = hg_diff(e, p->mean, p->linear[q]);
        HG_SCRATCH unsigned char *below = hg_below(e, p->basis[q]);
        for (uint32_t r = 0; r < p->nlinear; r++)
            if (p->linear[r] <= p->basis[q] && below[p->linear[r]]) {
                hg_error(d, p->model->linear.item[q].line, p->model->linear.item[q].name,
                         "remove it from the list of linear parameters",
                         "the model is not linear in '%s' and '%s'", p->model->linear.item[q].name,
                         p->model->linear.item[r].name);
                return 0;
            }
        if (hg_is_value(e, p->basis[q], 1.0))
            p->intercept = (int)q;
    }
    p->rest = p->nlinear ? hg_replace(e, p->mean, p->nlinear, p->linear, zeros) : p->mean;
    return 1;
}

/* --- inputs of a pair --------------------------------------------------------------------------------- */

static void mark_pair_nodes(const struct hg_expr *e, hg_id root, unsigned char *need)
{
    need[root] = 1;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(e, id);
        int frontier = n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA || !(n->vary & BIG);
        for (uint32_t k = 0; need[id] && !frontier && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
}

int hg_input_kind_of(enum hg_op op, enum hg_input_kind *kind)
{
    switch (op) {
    case HG_LOCAL: *kind = HG_INPUT_SCALAR; return 1;
    case HG_DELTA: *kind = HG_INPUT_DELTA; return 1;
    case HG_AT_I: *kind = HG_INPUT_AT_I; return 1;
    case HG_AT_J: *kind = HG_INPUT_AT_J; return 1;
    default: return 0;
    }
}

enum { SHORT = 16 }; /* words that names are made of */

/* Names for the emitted code: d(int_D)/d(alpha) is int_dD_dalpha, the integral of dD_dalpha. */
static void name_tangent(struct hg_plan *p, hg_id def, hg_id tangent, const char *param)
{
    struct hg_expr *e = p->e;
    const struct hg_node n = *hg_at(e, def), t = *hg_at(e, tangent);
    const char *word = n.op == HG_POTENTIAL ? NULL : hg_words(e, def, NULL, NULL);
    if (n.op == HG_POTENTIAL && t.op == HG_POTENTIAL && hg_at(e, n.arg[0])->name) {
        const char *f = hg_at(e, n.arg[0])->name;
        hg_name(e, tangent, hg_format(e->arena, "int_d%s_d%s", f, param));
        hg_name(e, t.arg[0], hg_format(e->arena, "d%s_d%s", f, param));
    } else if (word && t.nargs && (n.name || strlen(word) <= SHORT)) {
        hg_name(e, tangent, hg_format(e->arena, "d%s_d%s", word, param));
    }
}

/* The input with its tangents; 0 when it depends on no parameter. */
static int fill_input(struct hg_plan *p, hg_id leaf, enum hg_input_kind kind, struct hg_input *in)
{
    struct hg_expr *e = p->e;
    const struct hg_node n = *hg_at(e, leaf);
    int active = 0;
    *in = (struct hg_input){.kind = kind, .leaf = leaf};
    in->def = kind == HG_INPUT_SCALAR ? p->local[n.ref].def : n.arg[0];
    in->tangent = hg_alloc(e->arena, (p->nparam + 1) * sizeof *in->tangent);
    in->partial = hg_alloc(e->arena, (p->nlinear + 1) * sizeof *in->partial);
    for (uint32_t k = 0; k < p->nparam; k++) {
        hg_id t = hg_diff(e, in->def, p->param[k]);
        in->tangent[k] = hg_is_value(e, t, 0.0) ? 0 : t;
        if (in->tangent[k])
            name_tangent(p, in->def, t, p->model->param.item[k].name);
        active |= in->tangent[k] != 0;
    }
    return active;
}

static hg_id partial_or_none(struct hg_plan *p, hg_id root, hg_id leaf)
{
    hg_id d = hg_diff(p->e, root, leaf);
    return hg_is_value(p->e, d, 0.0) ? 0 : hg_plan_bundle(p, d);
}

static void find_inputs(struct hg_plan *p)
{
    struct hg_expr *e = p->e;
    hg_id top = p->rest;
    for (uint32_t q = 0; q < p->nlinear; q++)
        top = p->basis[q] > top ? p->basis[q] : top;
    HG_SCRATCH unsigned char *need = hg_zeros(top + 1, 1);
    for (uint32_t q = 0; q < p->nlinear; q++)
        mark_pair_nodes(e, p->basis[q], need);
    mark_pair_nodes(e, p->rest, need);

    size_t room = 0;
    for (hg_id id = 1; id <= top; id++) {
        enum hg_input_kind kind;
        struct hg_input in;
        if (!need[id] || !hg_input_kind_of(hg_at(e, id)->op, &kind) || (hg_at(e, id)->vary & HG_K) ||
            !fill_input(p, id, kind, &in))
            continue; /* nodes that vary with turns of a sum: add_turns() */
        for (uint32_t q = 0; q < p->nlinear; q++)
            in.partial[q] = partial_or_none(p, p->basis[q], id);
        in.partial[p->nlinear] = partial_or_none(p, p->rest, id);
        if (p->ninput == room)
            p->input = hg_grow(e->arena, p->input, p->ninput, p->ninput + 4, sizeof in, &room);
        p->input[p->ninput++] = in;
    }
}

/* --- the narrowest cut -------------------------------------------------------------------------------- */

/* 1 when root depends on a nonlinear parameter by a path that does not pass through `cut`. */
static int escapes(const struct hg_expr *e, hg_id root, hg_id cut)
{
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    int found = 0;
    need[root] = root != cut;
    for (hg_id id = root; id > 0 && !found; id--) {
        const struct hg_node *n = hg_at(e, id);
        found = need[id] && n->op == HG_PARAM;
        for (uint32_t k = 0; need[id] && k < n->nargs; k++)
            if (n->arg[k] != cut)
                need[n->arg[k]] = 1;
    }
    return found;
}

/* The same expression with numbers taken out of products: -1 f0 exp(x) becomes -1 (f0 exp(x)), which shows the part
 * shared with f0 exp(x). Only for analysis and differentiation: the nodes are raw. */
static hg_id coefficients_apart(struct hg_expr *e, hg_id root)
{
    HG_SCRATCH hg_id *map = hg_zeros(root + 1, sizeof *map);
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    hg_mark(e, root, need);
    for (hg_id id = 1; id <= root; id++) {
        const struct hg_node n = *hg_at(e, id);
        hg_id *arg = hg_alloc(e->arena, (n.nargs + 1) * sizeof *arg);
        if (!need[id])
            continue;
        for (uint32_t k = 0; k < n.nargs; k++)
            arg[k] = map[n.arg[k]];
        if (n.op == HG_PROD && n.nargs > 2 && hg_is_const(e, n.arg[0], NULL)) {
            hg_id pair[2] = {arg[0], hg_raw(e, HG_PROD, n.nargs - 1, arg + 1)};
            map[id] = hg_raw(e, HG_PROD, 2, pair);
        } else {
            map[id] = n.nargs ? hg_raw(e, n.op, n.nargs, arg) : id;
        }
    }
    return map[root];
}

static int same_parameters(const struct hg_plan *p, const struct hg_input *a, const struct hg_input *b)
{
    for (uint32_t k = 0; k < p->nparam; k++)
        if ((a->tangent[k] != 0) != (b->tangent[k] != 0))
            return 0;
    return 1;
}

/* The function of time, closest to the members, through which all parameters reach every one of them; 0: none. */
static hg_id narrowest(const struct hg_plan *p, uint32_t n, const hg_id *def)
{
    hg_id top = def[0];
    for (uint32_t m = 1; m < n; m++)
        top = def[m] < top ? def[m] : top;
    for (hg_id d = top; d > 0; d--) {
        const struct hg_node *x = hg_at(p->e, d);
        int all = x->nargs && (x->vary & HG_T) && !(x->vary & (HG_I | HG_J | HG_R));
        for (uint32_t m = 0; m < n && all; m++)
            all = !escapes(p->e, def[m], d) && hg_contains(p->e, def[m], d);
        if (all)
            return d;
    }
    return 0;
}

/* d b_q / d (d at the frame) = sum over members of their partials times d def / d d at the frame. */
static void merge_members(struct hg_plan *p, hg_id d, uint32_t n, const uint32_t *member, const hg_id *def)
{
    struct hg_expr *e = p->e;
    struct hg_input *first = &p->input[member[0]], merged;
    fill_input(p, hg_pair_at(e, d, first->kind == HG_INPUT_AT_J), first->kind, &merged);
    for (uint32_t q = 0; q <= p->nlinear; q++) {
        hg_id *term = hg_alloc(e->arena, n * sizeof *term);
        uint32_t nterm = 0;
        for (uint32_t m = 0; m < n; m++) {
            const struct hg_input *in = &p->input[member[m]];
            hg_id slope = hg_pair_at(e, hg_diff(e, def[m], d), in->kind == HG_INPUT_AT_J);
            if (in->partial[q])
                term[nterm++] = hg_plan_bundle(p, hg_mul(e, in->partial[q], slope));
        }
        merged.partial[q] = nterm ? hg_plan_bundle(p, hg_sum(e, nterm, term)) : 0;
        if (merged.partial[q] && hg_is_value(e, merged.partial[q], 0.0))
            merged.partial[q] = 0;
    }
    *first = merged;
    uint32_t kept = member[0] + 1;
    for (uint32_t a = member[0] + 1, m = 1; a < p->ninput; a++) {
        if (m < n && member[m] == a)
            m++;
        else
            p->input[kept++] = p->input[a];
    }
    p->ninput = kept;
}

/* Several tables at one frame that depend on the parameters through one function of time are replaced by that
 * function: the cut moves to its narrowest point, which also minimises the number of channels. */
static void narrow_inputs(struct hg_plan *p)
{
    for (uint32_t a = 0; a < p->ninput; a++) {
        uint32_t n = 0, *member = hg_alloc(p->e->arena, p->ninput * sizeof *member);
        const struct hg_input *in = &p->input[a];
        if (in->kind != HG_INPUT_AT_I && in->kind != HG_INPUT_AT_J)
            continue;
        for (uint32_t b = a; b < p->ninput; b++)
            if (p->input[b].kind == in->kind && same_parameters(p, in, &p->input[b]))
                member[n++] = b;
        if (n < 2)
            continue;
        hg_id *def = hg_alloc(p->e->arena, n * sizeof *def);
        for (uint32_t m = 0; m < n; m++)
            def[m] = coefficients_apart(p->e, p->input[member[m]].def);
        hg_id d = narrowest(p, n, def);
        if (d)
            merge_members(p, d, n, member, def);
    }
}

/* --- channels ----------------------------------------------------------------------------------------- */

/* d mean / d input with the linear parameters put back. */
static hg_id weigh(struct hg_plan *p, const hg_id *partial)
{
    hg_id *term = hg_alloc(p->e->arena, (p->nlinear + 1) * sizeof *term);
    uint32_t n = 0;
    for (uint32_t q = 0; q < p->nlinear; q++)
        if (partial[q])
            term[n++] = hg_mul(p->e, p->linear[q], partial[q]);
    if (partial[p->nlinear])
        term[n++] = partial[p->nlinear];
    return hg_sum(p->e, n, term);
}

static struct hg_channel *new_channel(struct hg_plan *p, enum hg_channel_kind kind, hg_id m)
{
    struct hg_channel *c = &p->channel[p->nchannel++];
    *c = (struct hg_channel){.kind = kind, .m = m};
    c->table = hg_alloc(p->e->arena, (p->nparam + 1) * sizeof *c->table);
    return c;
}

/* Adds m to the channel of kind ONE that serves parameter k. */
static void add_one(struct hg_plan *p, uint32_t k, hg_id m)
{
    for (uint32_t c = 0; c < p->nchannel; c++)
        if (p->channel[c].kind == HG_CHANNEL_ONE && p->channel[c].table[k]) {
            p->channel[c].m = hg_add(p->e, p->channel[c].m, m);
            return;
        }
    struct hg_channel *c = new_channel(p, HG_CHANNEL_ONE, m);
    c->name = p->model->param.item[k].name;
    c->table[k] = hg_const(p->e, 1.0);
    c->nuse = 1;
}

/* The tangent of input `in` for parameter k as a factor of the pair. */
static hg_id tangent_at_pair(struct hg_plan *p, const struct hg_input *in, uint32_t k)
{
    switch (in->kind) {
    case HG_INPUT_DELTA: return hg_plan_bundle(p, hg_delta(p->e, in->tangent[k]));
    case HG_INPUT_AT_I: return hg_plan_bundle(p, hg_pair_at(p->e, in->tangent[k], 0));
    case HG_INPUT_AT_J: return hg_plan_bundle(p, hg_pair_at(p->e, in->tangent[k], 1));
    default: return hg_plan_local(p, in->tangent[k]);
    }
}

/* The rate whose integral it is, the factor and its frame, or a number. */
static const char *channel_name(struct hg_plan *p, const struct hg_input *in)
{
    const struct hg_node *def = hg_at(p->e, in->def);
    const char *end = in->kind == HG_INPUT_AT_I ? "_i" : in->kind == HG_INPUT_AT_J ? "_j" : "";
    const char *name = hg_words(p->e, def->op == HG_POTENTIAL ? def->arg[0] : in->def, NULL, NULL);
    if (name && !def->name && strlen(name) > SHORT)
        name = NULL;
    for (uint32_t c = 0; name && c + 1 < p->nchannel; c++)
        if (strcmp(p->channel[c].name, hg_format(p->e->arena, "%s%s", name, end)) == 0)
            name = NULL;
    return name ? hg_format(p->e->arena, "%s%s", name, end) : hg_format(p->e->arena, "%u", p->nchannel);
}

static enum hg_channel_kind table_kind(enum hg_input_kind kind)
{
    switch (kind) {
    case HG_INPUT_DELTA: return HG_CHANNEL_DELTA;
    case HG_INPUT_AT_I: return HG_CHANNEL_AT_I;
    case HG_INPUT_AT_J: return HG_CHANNEL_AT_J;
    default: return HG_CHANNEL_ONE;
    }
}

static void add_input(struct hg_plan *p, const struct hg_input *in)
{
    hg_id m = weigh(p, in->partial);
    int table = in->kind != HG_INPUT_SCALAR && !(hg_at(p->e, in->def)->vary & HG_G);
    if (hg_is_value(p->e, m, 0.0))
        return;
    struct hg_channel *c = NULL;
    for (uint32_t k = 0; k < p->nparam; k++) {
        hg_id t = in->tangent[k];
        if (!t)
            continue;
        if (!table || !(hg_at(p->e, t)->vary & HG_T)) { /* at(p + q t, t1): d/dp is 1, no table */
            add_one(p, k, hg_mul(p->e, m, tangent_at_pair(p, in, k)));
            continue;
        }
        if (!c) {
            c = new_channel(p, table_kind(in->kind), m);
            c->name = channel_name(p, in);
        }
        c->table[k] = t;
        c->nuse++;
    }
}

/* Scalars with a number for each turn of a sum vary together: they contribute to a derivative the one along their
 * tangents, inside the sums. */
static void add_turns(struct hg_plan *p)
{
    struct hg_expr *e = p->e;
    const uint32_t nlocal = p->nlocal; /* those that the mean may have */
    hg_id *leaf = hg_alloc(e->arena, (nlocal + 1) * sizeof *leaf),
          *rate = hg_alloc(e->arena, (nlocal + 1) * sizeof *rate);
    hg_id *partial = hg_alloc(e->arena, (p->nlinear + 1) * sizeof *partial);
    for (uint32_t k = 0; k < p->nparam; k++) {
        uint32_t n = 0;
        for (uint32_t l = 0; l < nlocal; l++) {
            hg_id t = hg_at(e, p->local[l].symbol)->vary & HG_K ? hg_diff(e, p->local[l].def, p->param[k]) : 0;
            if (!t || hg_is_value(e, t, 0.0))
                continue;
            rate[n] = hg_plan_local(p, t);
            leaf[n++] = p->local[l].symbol;
        }
        int any = 0;
        for (uint32_t q = 0; n && q <= p->nlinear; q++) {
            hg_id d = hg_diff_along(e, q < p->nlinear ? p->basis[q] : p->rest, n, leaf, rate);
            partial[q] = hg_is_value(e, d, 0.0) ? 0 : hg_plan_bundle(p, d);
            any |= partial[q] != 0;
        }
        if (any)
            add_one(p, k, weigh(p, partial));
    }
}

/* Tables: every row has its own value, so the derivatives are taken by the parameters directly. */
static void add_row_channels(struct hg_plan *p)
{
    hg_id *partial = hg_alloc(p->e->arena, (p->nlinear + 1) * sizeof *partial);
    for (uint32_t k = 0; k < p->nparam; k++) {
        int any = 0;
        for (uint32_t q = 0; q <= p->nlinear; q++) {
            hg_id root = q < p->nlinear ? p->basis[q] : p->rest;
            partial[q] = partial_or_none(p, root, p->param[k]);
            any |= partial[q] != 0;
        }
        if (any)
            add_one(p, k, weigh(p, partial));
    }
}

static hg_id bundled(struct hg_plan *p, hg_id id)
{
    return id && !hg_is_value(p->e, id, 0.0) ? hg_plan_bundle(p, id) : id;
}

static void plan_events(struct hg_plan *p, uint32_t width)
{
    const struct hg_march *m = p->e->march;
    p->event_at = hg_alloc(p->e->arena, ((size_t)m->nevent * width + 1) * sizeof *p->event_at);
    p->event_jump = hg_alloc(p->e->arena, ((size_t)m->nevent * m->n * width + 1) * sizeof *p->event_jump);
    for (uint32_t v = 0; v < m->nevent; v++)
        for (uint32_t k = 0; k < width; k++) {
            const struct hg_event *x = &m->event[v];
            p->event_at[v * width + k] = bundled(p, k ? x->d_at[k - 1] : x->at);
            for (uint32_t q = 0; q < m->n; q++)
                p->event_jump[(v * m->n + q) * width + k] =
                    bundled(p, k ? x->d_jump[q * p->nparam + k - 1] : x->jump[q]);
        }
}

/* The steps of states, whose tables prepare fills. */
static void plan_states(struct hg_plan *p)
{
    const struct hg_march *m = p->e->march;
    uint32_t width = p->nparam + 1;
    if (!m)
        return;
    p->before = hg_alloc(p->e->arena, (size_t)m->n * width * sizeof *p->before);
    p->step = hg_alloc(p->e->arena, (size_t)m->n * width * sizeof *p->step);
    p->from = m->flow ? bundled(p, m->from) : 0;
    p->jacobian = hg_alloc(p->e->arena, (size_t)m->n * m->n * sizeof *p->jacobian);
    for (uint32_t k = 0; m->flow && k < m->n * m->n; k++)
        p->jacobian[k] = bundled(p, m->jacobian[k]);
    plan_events(p, width);
    for (uint32_t q = 0; q < m->n; q++)
        for (uint32_t k = 0; k < width; k++) {
            p->before[q * width + k] = bundled(p, k ? m->state[q].d_before[k - 1] : m->state[q].before);
            p->step[q * width + k] = bundled(p, k ? m->state[q].d_step[k - 1] : m->state[q].step);
        }
}

struct hg_plan *hg_plan_new(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d)
{
    struct hg_plan *p = hg_alloc(m->expr->arena, sizeof *p);
    p->model = m;
    p->e = m->expr;
    p->e->line = 0;
    p->mean = v->mean;
    p->nparam = m->param.n;
    p->nlinear = m->linear.n;
    p->basis = hg_alloc(p->e->arena, (p->nlinear + 1) * sizeof *p->basis);
    p->param = hg_alloc(p->e->arena, (p->nparam + 1) * sizeof *p->param);
    p->linear = hg_alloc(p->e->arena, (p->nlinear + 1) * sizeof *p->linear);
    for (uint32_t k = 0; k < p->nparam; k++)
        p->param[k] = hg_symbol(p->e, HG_PARAM, k);
    for (uint32_t q = 0; q < p->nlinear; q++)
        p->linear[q] = hg_symbol(p->e, HG_LINEAR, q);
    if (!split_linear(p, d))
        return NULL;

    p->channel = hg_alloc(p->e->arena, (p->nparam * 8 + p->e->n + 8) * sizeof *p->channel);
    if (m->space == FIT_ROWS)
        add_row_channels(p);
    for (uint32_t q = 0; q < p->nlinear; q++)
        p->basis[q] = hg_plan_bundle(p, p->basis[q]);
    p->rest = hg_plan_bundle(p, p->rest);
    if (m->space == FIT_PAIRS) {
        find_inputs(p);
        narrow_inputs(p);
        for (uint32_t a = 0; a < p->ninput; a++)
            add_input(p, &p->input[a]);
        add_turns(p);
    }
    plan_states(p);
    return p;
}
