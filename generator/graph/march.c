/* march.c -- states and their derivatives: see march.h. */
#include "graph/march.h"

#include "base/diag.h"

enum { K_BITS = 12 };

uint32_t hg_carried_ref(uint32_t state, int before, uint32_t k)
{
    return (state << 1 | (uint32_t)before) << K_BITS | k;
}

struct hg_carried_place hg_carried_at(uint32_t ref)
{
    return (struct hg_carried_place){ref >> (K_BITS + 1), (int)(ref >> K_BITS & 1), ref & ((1u << K_BITS) - 1)};
}

struct hg_carried_place hg_state_at(const struct hg_expr *e, hg_id state)
{
    return hg_carried_at((uint32_t)hg_at(e, hg_at(e, state)->arg[0])->value);
}

uint32_t hg_march_add(struct hg_expr *e, const char *name, hg_id before)
{
    if (!e->march)
        e->march = hg_alloc(e->arena, sizeof *e->march);
    if (e->march->n == HG_MOST_STATES)
        hg_bug("march: too many states");
    e->march->state[e->march->n] = (struct hg_carried){.name = name, .before = before};
    return e->march->n++;
}

void hg_march_step(struct hg_expr *e, uint32_t state, hg_id step)
{
    e->march->state[state].step = step;
    e->march->order[e->march->nstep++] = state;
}

void hg_march_flow(struct hg_expr *e, hg_id time, hg_id from, double tolerance, int stiff)
{
    e->march->stiff = stiff;
    e->march->flow = 1;
    e->march->time = time;
    e->march->from = from;
    e->march->tolerance = tolerance;
}

struct hg_event *hg_march_event(struct hg_expr *e, hg_id at)
{
    struct hg_march *x = e->march;
    if (!x->event)
        x->event = hg_alloc(e->arena, HG_MOST_EVENTS * sizeof *x->event);
    if (x->nevent == HG_MOST_EVENTS)
        hg_bug("march: too many events");
    struct hg_event *v = &x->event[x->nevent++];
    v->at = at;
    v->jump = hg_alloc(e->arena, HG_MOST_STATES * sizeof *v->jump);
    v->written_jump = hg_alloc(e->arena, HG_MOST_STATES * sizeof *v->written_jump);
    return v;
}

int hg_march_by_rows(const struct hg_expr *e)
{
    const struct hg_march *x = e->march;
    if (!x || !x->flow)
        return 0;
    for (uint32_t v = 0; v < x->nevent; v++)
        if (x->event[v].each)
            return 1;
    for (uint32_t q = 0; q < x->n; q++)
        for (hg_id id = 1; x->state[q].step && id <= x->state[q].step; id++)
            if (hg_at(e, id)->op == HG_COLUMN && id != x->time && hg_contains(e, x->state[q].step, id))
                return 1;
    return 0;
}

hg_id hg_carried(struct hg_expr *e, uint32_t state, int before, uint32_t k)
{
    return hg_opaque(e, HG_CARRIED, hg_carried_ref(state, before, k), HG_R);
}

/* --- what steps contain ------------------------------------------------------------------------------------ */

static void mark_steps(const struct hg_expr *e, unsigned char *mark)
{
    for (uint32_t q = 0; q < e->march->n; q++) {
        mark[e->march->state[q].before] = mark[e->march->state[q].step] = 1;
    }
    if (e->march->flow)
        mark[e->march->time] = mark[e->march->from] = 1;
    for (uint32_t v = 0; v < e->march->nevent; v++) {
        mark[e->march->event[v].at] = 1;
        for (uint32_t q = 0; q < e->march->n; q++)
            mark[e->march->event[v].jump[q]] = 1;
    }
    mark[0] = 0;
    for (hg_id id = e->n - 1; id > 0; id--)
        for (uint32_t k = 0; mark[id] && k < hg_at(e, id)->nargs; k++)
            mark[hg_at(e, id)->arg[k]] = 1;
}

static void find_symbols(struct hg_expr *e)
{
    struct hg_march *x = e->march;
    HG_SCRATCH unsigned char *mark = hg_zeros(e->n, 1);
    mark_steps(e, mark);
    x->arg = hg_alloc(e->arena, (e->n + 1) * sizeof *x->arg);
    for (hg_id id = 1; id < e->n; id++) {
        const struct hg_node *n = hg_at(e, id);
        if (mark[id] && n->nargs == 0 && n->op != HG_CONST && n->op != HG_CARRIED &&
            n->op != HG_INDEX && n->op != HG_NODE)
            x->arg[++x->narg] = id;
    }
}

/* Does an event change state q by what is marked? */
static int jumps_by(const struct hg_march *x, uint32_t q, const unsigned char *mark)
{
    for (uint32_t v = 0; v < x->nevent; v++)
        if (x->event[v].jump[q] && mark[x->event[v].jump[q]])
            return 1;
    return 0;
}

/* Does the time of an event depend on the parameter?  Then all states do: it moves along them. */
static int moves_event(const struct hg_expr *e, hg_id param)
{
    for (uint32_t v = 0; v < e->march->nevent; v++)
        if (hg_contains(e, e->march->event[v].at, param))
            return 1;
    return 0;
}

/* The states that depend on parameter k, also through other states. */
static void find_active(const struct hg_expr *e, hg_id param, unsigned char *active)
{
    const struct hg_march *x = e->march;
    HG_SCRATCH unsigned char *mark = hg_zeros(e->n, 1);
    int more = 1;
    for (uint32_t q = 0; q < x->n; q++)
        active[q] = (unsigned char)(hg_contains(e, x->state[q].before, param) || moves_event(e, param));
    while (more) {
        more = 0;
        for (hg_id id = 1; id < e->n; id++) {
            const struct hg_node *n = hg_at(e, id);
            mark[id] = id == param || (n->op == HG_CARRIED && active[hg_carried_at(n->ref).state]);
            for (uint32_t k = 0; k < n->nargs && !mark[id]; k++)
                mark[id] = mark[n->arg[k]];
        }
        for (uint32_t q = 0; q < x->n; q++)
            if (!active[q] && (mark[x->state[q].step] || jumps_by(x, q, mark)))
                more = active[q] = 1;
    }
}

/* Derivatives by parameter k: the chain rule at the leaves of other states. */
static void differentiate(struct hg_expr *e, uint32_t k)
{
    struct hg_march *x = e->march;
    unsigned char active[HG_MOST_STATES] = {0};
    hg_id leaf[2 * HG_MOST_STATES + 1], rate[2 * HG_MOST_STATES + 1];
    uint32_t n = 0;
    leaf[n] = hg_symbol(e, HG_PARAM, k);
    rate[n++] = hg_const(e, 1.0);
    find_active(e, leaf[0], active);
    for (uint32_t q = 0; q < x->n; q++)
        for (int before = 0; active[q] && before < 2; before++) {
            leaf[n] = hg_carried(e, q, before, 0);
            rate[n++] = hg_carried(e, q, before, k + 1);
            hg_name(e, rate[n - 1], hg_format(e->arena, "d%s%s_d%s", x->state[q].name, before ? "_before" : "",
                                              hg_at(e, leaf[0])->name ? hg_at(e, leaf[0])->name : "theta"));
        }
    for (uint32_t q = 0; q < x->n; q++)
        if (active[q]) {
            x->state[q].d_before[k] = hg_diff_along(e, x->state[q].before, n, leaf, rate);
            x->state[q].d_step[k] = hg_diff_along(e, x->state[q].step, n, leaf, rate);
        }
}

/* The same for events: a moving time is one more leaf of a jump. */
static void differentiate_events(struct hg_expr *e, uint32_t k)
{
    struct hg_march *x = e->march;
    const hg_id param = hg_symbol(e, HG_PARAM, k), one = hg_const(e, 1.0);
    for (uint32_t v = 0; v < x->nevent; v++) {
        struct hg_event *event = &x->event[v];
        hg_id leaf[HG_MOST_STATES + 2] = {param, x->time}, rate[HG_MOST_STATES + 2] = {one, hg_const(e, 0.0)};
        uint32_t n = 2;
        if (hg_contains(e, event->at, param))
            event->d_at[k] = rate[1] = hg_diff_along(e, event->at, 1, &param, &one);
        for (uint32_t q = 0; q < x->n; q++)
            if (x->state[q].d_step[k]) {
                leaf[n] = hg_carried(e, q, 0, 0);
                rate[n++] = hg_carried(e, q, 0, k + 1);
            }
        for (uint32_t q = 0; q < x->n; q++)
            if (event->jump[q] && x->state[q].d_step[k])
                event->d_jump[q * x->nparam + k] = hg_diff_along(e, event->jump[q], n, leaf, rate);
    }
}

/* Derivatives of rates by values, which implicit steps need. */
static void find_jacobian(struct hg_expr *e)
{
    struct hg_march *x = e->march;
    const hg_id one = hg_const(e, 1.0);
    x->jacobian = hg_alloc(e->arena, (size_t)x->n * x->n * sizeof *x->jacobian);
    for (uint32_t q = 0; q < x->n; q++)
        for (uint32_t r = 0; r < x->n; r++) {
            const hg_id leaf = hg_carried(e, r, 0, 0);
            x->jacobian[q * x->n + r] =
                hg_contains(e, x->state[q].step, leaf) ? hg_diff_along(e, x->state[q].step, 1, &leaf, &one) : 0;
        }
}

void hg_march_close(struct hg_expr *e, uint32_t nparam)
{
    struct hg_march *x = e->march;
    if (!x || x->closed)
        return;
    x->closed = 1;
    x->nparam = nparam;
    find_symbols(e);
    for (uint32_t q = 0; q < x->n; q++) {
        x->state[q].d_before = hg_alloc(e->arena, (nparam + 1) * sizeof(hg_id));
        x->state[q].d_step = hg_alloc(e->arena, (nparam + 1) * sizeof(hg_id));
    }
    for (uint32_t v = 0; v < x->nevent; v++) {
        x->event[v].d_at = hg_alloc(e->arena, (nparam + 1) * sizeof(hg_id));
        x->event[v].d_jump = hg_alloc(e->arena, ((size_t)x->n * nparam + 1) * sizeof(hg_id));
    }
    for (uint32_t k = 0; k < nparam; k++) {
        differentiate(e, k);
        differentiate_events(e, k);
    }
    if (x->flow)
        find_jacobian(e);
}

/* --- nodes that stand for states ----------------------------------------------------------------------------- */

static hg_id state_node(struct hg_expr *e, uint32_t ref)
{
    struct hg_march *x = e->march;
    x->arg[0] = hg_const(e, (double)ref);
    hg_id id = hg_raw(e, HG_STATE, x->narg + 1, x->arg), leaf = hg_opaque(e, HG_CARRIED, ref, HG_R);
    if (hg_at(e, leaf)->name)
        hg_name(e, id, hg_at(e, leaf)->name);
    return id;
}

hg_id hg_state_of(struct hg_expr *e, hg_id carried)
{
    return state_node(e, hg_at(e, carried)->ref);
}

hg_id hg_march_states(struct hg_expr *e, hg_id root)
{
    hg_id from[4 * HG_MOST_STATES], to[4 * HG_MOST_STATES];
    uint32_t n = 0;
    if (!e->march)
        return root;
    for (uint32_t q = 0; q < e->march->n; q++)
        for (int before = 0; before < 2; before++) {
            from[n] = hg_carried(e, q, before, 0);
            to[n] = hg_state_of(e, from[n]);
            n++;
        }
    return hg_replace(e, root, n, from, to);
}

/* Arguments changed by a substitution stay: the slope by a parameter is that by the symbol in its position. */
hg_id hg_state_slope(struct hg_expr *e, hg_id state, uint32_t k)
{
    const struct hg_carried_place p = hg_state_at(e, state);
    if (p.k || k >= e->march->nparam || !e->march->state[p.state].d_step[k])
        return 0;
    const struct hg_node n = *hg_at(e, state);
    hg_id *arg = hg_alloc(e->arena, n.nargs * sizeof *arg);
    for (uint32_t i = 1; i < n.nargs; i++)
        arg[i] = n.arg[i];
    arg[0] = hg_const(e, (double)hg_carried_ref(p.state, p.before, k + 1));
    return hg_raw(e, HG_STATE, n.nargs, arg);
}

/* --- what a row may see --------------------------------------------------------------------------------------- */

static int sees(const struct hg_expr *e, hg_id root, hg_id symbol, unsigned char *tried)
{
    HG_SCRATCH unsigned char *mark = hg_zeros(root + 1, 1);
    int found = 0;
    hg_mark(e, root, mark);
    for (hg_id id = 1; id <= root && !found; id++) {
        const struct hg_carried_place p = hg_carried_at(hg_at(e, id)->ref);
        found = mark[id] && id == symbol;
        if (!mark[id] || hg_at(e, id)->op != HG_CARRIED || p.before || tried[p.state])
            continue;
        tried[p.state] = 1;
        found = sees(e, e->march->state[p.state].step, symbol, tried);
    }
    return found;
}

int hg_march_root_sees(const struct hg_expr *e, hg_id root, hg_id symbol)
{
    unsigned char tried[HG_MOST_STATES] = {0};
    return sees(e, root, symbol, tried);
}

int hg_march_sees(const struct hg_expr *e, uint32_t state, hg_id symbol)
{
    return hg_march_root_sees(e, e->march->state[state].step, symbol);
}
