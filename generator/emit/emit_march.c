/* emit_march.c -- states (graph/march.h) in a kernel: functions that process the rows of every group in their order and
 * fill the tables from which rows are read: of values alone, or of values and derivatives.
 *
 *     double x_before = before the first row;
 *     for rows of the group:  x = step(x_before, columns of the row);  tables[row] = ...;  x_before = x
 *
 * Numbers are doubles, computed one after the other: the same bits for every caller. Where states depend on measured
 * values, the computation can continue from a row (fit_layout.carried).
 *
 * For a differential equation the solver (fit/ode.h) advances from the time of one row to that of the next, with a
 * function for the rates of everything carried; where time goes back, it starts again.
 */
#include "emit/emit.h"

struct march {
    struct hg_emit *em;
    const struct hg_march *m;
    const char *name;    /* of the function: "march_values" */
    uint32_t width;      /* values carried per state: 1, or 1 + nparam */
    const char **before; /* [state x width] names of variables; NULL: not carried */
    const char **now;
    int by_rows;         /* columns in rates, or events at every row */
    const char *row;     /* of columns; NULL: interpolated between two rows */
};

/* A column in a row; row NULL: between two rows. */
static void column_line(const struct hg_emit *em, struct hg_code *c, const char *name, uint32_t column,
                        const char *row)
{
    const struct hg_march *m = em->e->march;
    if (row)
        hg_declare(c->out, "const double", "%s = l->column[%u][%s];", name, column, row);
    else if (m->held)
        hg_declare(c->out, "const double", "%s = l->column[%u][flow->last];", name, column);
    else
        hg_declare(c->out, "const double",
                   "%s = fit_ode_between(l->column[%u], l->column[%u], flow->last, flow->row, time);", name, column,
                   hg_at(em->e, m->time)->ref);
}

static const char *march_leaf(struct hg_code *c, hg_id id)
{
    struct hg_emit *em = ((struct march *)c->user)->em;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *name;
    switch (n->op) {
    case HG_COLUMN:
        name = hg_code_unique(c, n->name ? n->name : em->p->model->column.item[n->ref].name);
        column_line(em, c, name, n->ref, ((struct march *)c->user)->row);
        return name;
    case HG_LOCAL:
        return hg_format(a, n->vary ? "w.%s[g]" : "w.%s[0]",
                         hg_emit_field(em, n->vary ? HG_FIELD_GROUP : HG_FIELD_SCALAR, id, 0)->name);
    default: return hg_emit_common_leaf(c, id);
    }
}

/* Is value k of state q carried? */
static int is_carried(const struct march *x, uint32_t q, uint32_t k)
{
    return k < x->width && x->em->p->step[q * (x->em->p->nparam + 1) + k] != 0;
}

static hg_id root_of(const struct march *x, const hg_id *list, uint32_t q, uint32_t k)
{
    return list[q * (x->em->p->nparam + 1) + k];
}

/* The increment of value k of state q at event v; the time of the event, and its derivative by parameter k - 1. 0:
 * none. */
static hg_id jump_of(const struct march *x, uint32_t v, uint32_t q, uint32_t k)
{
    const hg_id id = x->em->p->event_jump[(v * x->m->n + q) * (x->em->p->nparam + 1) + k];
    return is_carried(x, q, k) && id && !hg_is_value(x->em->e, id, 0.0) ? id : 0;
}

static hg_id time_of(const struct march *x, uint32_t v, uint32_t k)
{
    return x->em->p->event_at[v * (x->em->p->nparam + 1) + k];
}

static uint32_t event_roots(const struct march *x, hg_id *root)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < x->m->nevent; v++)
        for (uint32_t k = 0; k < x->width; k++) {
            if (time_of(x, v, k) && !x->m->event[v].each)
                root[n++] = time_of(x, v, k);
            for (uint32_t q = 0; q < x->m->n; q++)
                if (jump_of(x, v, q, k))
                    root[n++] = jump_of(x, v, q, k);
        }
    return n;
}

static size_t most_roots(const struct march *x)
{
    const size_t ns = x->m->n;
    return (2 * ns + x->m->nevent * (1 + ns)) * x->width + ns * ns + 2;
}

static uint32_t all_roots(const struct march *x, hg_id *root)
{
    uint32_t n = event_roots(x, root);
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            if (is_carried(x, q, k)) {
                root[n++] = root_of(x, x->em->p->before, q, k);
                root[n++] = root_of(x, x->em->p->step, q, k);
            }
    if (x->m->flow)
        root[n++] = x->em->p->from;
    for (uint32_t k = 0; x->m->flow && k < x->m->n * x->m->n; k++)
        if (x->em->p->jacobian[k])
            root[n++] = x->em->p->jacobian[k];
    return n;
}

static struct hg_code begin(struct march *x, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    hg_id *root = hg_alloc(em->e->arena, most_roots(x) * sizeof *root);
    uint32_t nroot = all_roots(x, root);
    struct hg_code c = {.e = em->e,
                        .out = out,
                        .source = em->p->model->file,
                        .units = em->p->model,
                        .leaf = march_leaf,
                        .is_leaf = hg_code_is_symbol,
                        .user = x,
                        .nparam = em->p->nparam};
    c.nreserve = hg_emit_names(em, &c.reserve);
    hg_code_begin(&c, nroot, root);
    hg_code_push(&c);
    return c;
}

/* Variables that hold the values of the previous row. */
static void declare_before(struct march *x, struct hg_code *c)
{
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++) {
            hg_id leaf = hg_carried(x->em->e, q, 1, k);
            const char *name = hg_at(c->e, leaf)->name;
            if (!is_carried(x, q, k))
                continue;
            x->before[q * x->width + k] =
                hg_code_unique(c, name ? name : hg_format(c->e->arena, "%s_before", x->m->state[q].name));
            hg_declare(c->out, "double", "%s = 0.0;", x->before[q * x->width + k]);
            hg_code_bind(c, leaf, x->before[q * x->width + k]);
        }
}

/* Can rows be processed one by one? */
static int follows(const struct march *x)
{
    return x->em->p->model->feedback && !x->m->flow && x->width == 1;
}

/* States to the layout, or from there. */
static void keep_carried(struct march *x, struct hg_code *c, const char *when, int take)
{
    hg_open(c->out, "if (%s) {", when);
    for (uint32_t q = 0; q < x->m->n; q++)
        if (is_carried(x, q, 0) && take)
            hg_do(c->out, "%s = l->carried[%u];", x->before[q * x->width], q);
        else if (is_carried(x, q, 0))
            hg_do(c->out, "l->carried[%u] = %s;", q, x->before[q * x->width]);
    hg_close(c->out);
}

static void set_before(struct march *x, struct hg_code *c)
{
    hg_open(c->out, "{");
    hg_code_push(c);
    hg_offer(c->out, "const size_t", "row = first;");
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            if (is_carried(x, q, k)) {
                hg_id root = root_of(x, x->em->p->before, q, k);
                hg_code_need(c, root);
                hg_do(c->out, "%s = %s;", x->before[q * x->width + k], hg_code_text(c, root));
            }
    hg_code_pop(c);
    hg_close(c->out);
}

/* Values of this row: a step may read those of previous steps. */
static void take_steps(struct march *x, struct hg_code *c)
{
    for (uint32_t s = 0; s < x->m->n; s++)
        for (uint32_t k = 0; k < x->width; k++) {
            const uint32_t q = x->m->order[s];
            hg_id root = root_of(x, x->em->p->step, q, k), leaf = hg_carried(x->em->e, q, 0, k);
            if (!is_carried(x, q, k))
                continue;
            hg_code_need(c, root);
            const char *value = hg_code_text(c, root), *name = hg_at(c->e, leaf)->name;
            name = hg_code_unique(c, name ? name : x->m->state[q].name);
            hg_code_source(c, root);
            hg_declare(c->out, "const double", "%s = %s;", name, value);
            hg_code_bind(c, leaf, name);
            x->now[q * x->width + k] = name;
        }
}

/* The table of a value, if rows read it. */
static const char *table_of(const struct march *x, uint32_t q, int before, uint32_t k)
{
    hg_id leaf = hg_carried(x->em->e, q, before, k);
    for (uint32_t f = 0; f < x->em->nfield; f++)
        if (x->em->field[f].kind == HG_FIELD_ROW && x->em->field[f].id == leaf)
            return x->em->field[f].name;
    return NULL;
}

static void store(struct march *x, struct hg_code *c)
{
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            for (int before = 0; before < 2 && is_carried(x, q, k); before++) {
                const char *table = table_of(x, q, before, k);
                if (table)
                    hg_do(c->out, "w.%s[row] = %s;", table, (before ? x->before : x->now)[q * x->width + k]);
            }
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            if (is_carried(x, q, k))
                hg_do(c->out, "%s = %s;", x->before[q * x->width + k], x->now[q * x->width + k]);
}

/* The values carried to the end are finite only if all earlier ones were: infinities and NaN persist. Padding
 * repeats the last row. */
static void end_group(struct march *x, struct hg_code *c)
{
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++) {
            if (!is_carried(x, q, k))
                continue;
            hg_do(c->out, "check += 0.0 * %s;", x->before[q * x->width + k]);
            for (int before = 0; before < 2; before++) {
                const char *table = table_of(x, q, before, k);
                if (table)
                    hg_do(c->out, "fit_pad_rows(end, w.%s);", table);
            }
        }
}

/* --- differential equations ------------------------------------------------------------------------------------- */

/* Index of value k of state q in the solver's vector: values first. */
static uint32_t place_of(const struct march *x, uint32_t q, uint32_t k)
{
    uint32_t n = 0;
    if (k == 0)
        return q;
    for (uint32_t a = 0; a < x->m->n; a++)
        for (uint32_t b = 1; b < x->width; b++) {
            if (a == q && b == k)
                return x->m->n + n;
            n += (uint32_t)is_carried(x, a, b);
        }
    return 0;
}

static uint32_t carried(const struct march *x)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            n += (uint32_t)is_carried(x, q, k);
    return n;
}

static void each_carried(struct march *x, struct hg_code *c,
                         void (*write)(struct march *, struct hg_code *, uint32_t, uint32_t))
{
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k < x->width; k++)
            if (is_carried(x, q, k))
                write(x, c, q, k);
}

static void bind_value(struct march *x, struct hg_code *c, uint32_t q, uint32_t k)
{
    hg_id leaf = hg_carried(x->em->e, q, 0, k);
    const char *name = hg_code_unique(c, hg_at(c->e, leaf)->name ? hg_at(c->e, leaf)->name : "state");
    hg_offer(c->out, "const double", "%s = x[%u];", name, place_of(x, q, k));
    hg_code_bind(c, leaf, name);
}

static void write_rate(struct march *x, struct hg_code *c, uint32_t q, uint32_t k)
{
    hg_id root = root_of(x, x->em->p->step, q, k);
    hg_code_need(c, root);
    const char *value = hg_code_text(c, root);
    hg_code_source(c, root);
    hg_do(c->out, "dx[%u] = %s;", place_of(x, q, k), value);
}

static void write_start(struct march *x, struct hg_code *c, uint32_t q, uint32_t k)
{
    hg_id root = root_of(x, x->em->p->before, q, k);
    hg_code_need(c, root);
    hg_do(c->out, "start[%u] = %s;", place_of(x, q, k), hg_code_text(c, root));
}

static void write_table(struct march *x, struct hg_code *c, uint32_t q, uint32_t k)
{
    const char *table = table_of(x, q, 0, k);
    if (table)
        hg_do(c->out, "w.%s[row] = x[%u];", table, place_of(x, q, k));
}

static void write_padding(struct march *x, struct hg_code *c, uint32_t q, uint32_t k)
{
    const char *table = table_of(x, q, 0, k);
    if (table)
        hg_do(c->out, "fit_pad_rows(end, w.%s);", table);
}

/* A function of the time and of the carried values; it fills `to`; `more` is a further argument. */
static struct hg_code open_of_time(struct march *x, const char *what, const char *more, const char *to,
                                   struct hg_tree *out)
{
    hg_open_function(out, "static void", hg_format(x->em->e->arena, "%s_%s", x->name, what),
                     hg_format(x->em->e->arena, "const void *context, %sdouble time, const double *x, double *%s", more,
                               to));
    hg_line(out, "const struct flow *flow = context;\nconst struct fit_layout *const l = flow->l;");
    hg_offer(out, "const double *const", "theta = flow->theta;");
    hg_offer(out, "const struct tables", "w = *flow->w;");
    hg_offer(out, "const size_t", "g = flow->g;");
    hg_offer(out, "const size_t", "row = fit_rows_first(l, flow->g);");
    hg_emit_declare_names(x->em, out);
    struct hg_code c = begin(x, out);
    hg_code_bind(&c, x->m->time, "time");
    each_carried(x, &c, bind_value);
    return c;
}

static void close_of_time(struct hg_code *c, struct hg_tree *out)
{
    hg_code_pop(c);
    hg_code_end(c);
    hg_line(out, "(void)l;\n(void)time;\n(void)x;");
    hg_close_function(out);
}

static void write_rates(struct march *x, struct hg_tree *out)
{
    struct hg_code c = open_of_time(x, "rates", "", "dx", out);
    x->row = NULL;
    each_carried(x, &c, write_rate);
    close_of_time(&c, out);
    x->row = "row";
}

static void write_jacobian(struct march *x, struct hg_tree *out)
{
    struct hg_code c = open_of_time(x, "jacobian", "", "df", out);
    x->row = NULL;
    for (uint32_t k = 0; k < x->m->n * x->m->n; k++) {
        const hg_id root = x->em->p->jacobian[k];
        if (root)
            hg_code_need(&c, root);
        hg_do(c.out, "df[%u] = %s;", k, root ? hg_code_text(&c, root) : "0.0");
    }
    close_of_time(&c, out);
    x->row = "row";
}

/* Is any state's derivative by parameter k - 1 carried? */
static int is_slope(const struct march *x, uint32_t k)
{
    for (uint32_t q = 0; q < x->m->n; q++)
        if (is_carried(x, q, k))
            return 1;
    return 0;
}

static void write_jumps(struct march *x, struct hg_tree *out)
{
    struct hg_code c = open_of_time(x, "jump", "size_t event, ", "change", out);
    for (uint32_t v = 0; v < x->m->nevent; v++) {
        hg_open(c.out, "if (event == %u) {", v);
        x->row = x->m->event[v].each ? "flow->row" : "row";
        hg_code_push(&c);
        for (uint32_t q = 0; q < x->m->n; q++)
            for (uint32_t k = 0; k < x->width; k++)
                if (jump_of(x, v, q, k)) {
                    hg_code_need(&c, jump_of(x, v, q, k));
                    hg_do(c.out, "change[%u] = %s;", place_of(x, q, k), hg_code_text(&c, jump_of(x, v, q, k)));
                }
        hg_code_pop(&c);
        hg_close(c.out);
    }
    x->row = "row";
    close_of_time(&c, out);
}

/* Times of events in a group, and their derivatives by the parameters of the solver, in the block of its first row. */
static void write_times(struct march *x, struct hg_code *c)
{
    for (uint32_t v = 0; v < x->m->nevent; v++) {
        if (x->m->event[v].each) { /* none of its own */
            hg_do(c->out, "at[%u] = INFINITY;", v);
            continue;
        }
        hg_code_need(c, time_of(x, v, 0));
        hg_do(c->out, "at[%u] = %s;", v, hg_code_text(c, time_of(x, v, 0)));
    }
    for (uint32_t v = 0, place = 0; v < x->m->nevent; v++)
        for (uint32_t k = 1; k < x->width; k++) {
            if (!is_slope(x, k))
                continue;
            if (time_of(x, v, k)) {
                hg_code_need(c, time_of(x, v, k));
                hg_do(c->out, "moved[%u] = %s;", place, hg_code_text(c, time_of(x, v, k)));
            }
            place++;
        }
}

/* The positions of the derivatives by each parameter: two tables of the solver. */
static uint32_t write_places(const struct march *x, struct hg_tree *out)
{
    uint32_t nslope = 0;
    const char *place = "", *parameter = "";
    struct hg_arena *a = x->em->e->arena;
    for (uint32_t k = 1; k < x->width; k++) {
        const int any = is_slope(x, k);
        for (uint32_t q = 0; any && q < x->m->n; q++)
            place = hg_format(a, "%s%s%u", place, *place ? ", " : "", is_carried(x, q, k) ? place_of(x, q, k) : 0);
        parameter = any ? hg_format(a, "%s%s%u", parameter, *parameter ? ", " : "", k - 1) : parameter;
        nslope += (uint32_t)any;
    }
    hg_statement(out, HG_VERBATIM | HG_WHOLE, "static const unsigned slope[] = {%s}, parameter[] = {%s};",
                 nslope ? place : "0", nslope ? parameter : "0");
    return nslope;
}

static void write_solver(const struct march *x, struct hg_tree *out)
{
    const uint32_t n = carried(x), nslope = write_places(x, out);
    hg_line(out,
            "double start[%u], x[%u], top[%u], work[FIT_ODE_WORK(%u, %u)];\n"
            "%sstruct flow flow = {l, theta, &w, g%s};\n"
            "struct fit_ode ode = {.rates = %s_rates, .values = march_values_rates,\n"
            "                      .jacobian = march_values_jacobian, .context = &flow, .nvalue = %u, .n = %u,\n"
            "                      .slope = slope, .nslope = %u, .parameter = parameter, .theta = theta,\n"
            "                      .tolerance = %s, .top = top, .work = work};",
            n, n, n, x->m->n, n, x->by_rows ? "" : "const ", x->by_rows ? ", 0, 0" : "", x->name, x->m->n, n, nslope,
            hg_number(x->em->e->arena, x->m->tolerance));
    if (x->m->nevent)
        hg_line(out, "double at[%u], moved[%u] = {0.0};\nunsigned order[%u];\n"
                     "struct fit_ode_events events = {%u, at, moved, %s_jump, order, 0};",
                     x->m->nevent, nslope ? x->m->nevent * nslope : 1, x->m->nevent, x->m->nevent, x->name);
}

static void write_solution(struct march *x, struct hg_tree *out)
{
    const uint32_t n = carried(x), column = hg_at(x->em->e, x->m->time)->ref;
    const int events = x->m->nevent > 0;
    write_solver(x, out);
    struct hg_code c = begin(x, out);
    hg_open(c.out, "{");
    hg_code_push(&c);
    hg_offer(out, "const size_t", "row = first;");
    each_carried(x, &c, write_start);
    write_times(x, &c);
    hg_code_pop(&c);
    hg_close(c.out);
    hg_code_need(&c, x->em->p->from);
    hg_declare(c.out, "const double", "from = %s;", hg_code_text(&c, x->em->p->from));
    hg_declare(c.out, "double", "now = NAN; /* nothing is solved yet */");
    if (events)
        hg_line(c.out, "if (!fit_ode_events_sort(&events))\n    return 0;");
    hg_open(c.out, "for (size_t row = first; row < end; row++) {");
    hg_declare(c.out, "const double", "time = l->column[%u][row];", column);
    hg_open(c.out, "if (!(time >= now)) {");
    hg_do(c.out, "fit_ode_begin(&ode, %d, start, x);", x->m->stiff);
    if (events)
        hg_do(c.out, "fit_ode_events_begin(&events, from);");
    hg_do(c.out, "now = from;");
    if (x->by_rows)
        hg_do(c.out, "flow.last = row;");
    hg_close(c.out);
    if (x->by_rows)
        hg_do(c.out, "flow.row = row;");
    hg_line(c.out, "if (!fit_ode_%s now, time, x))\n    return 0;", events ? "through(&ode, &events," : "to(&ode,");
    hg_do(c.out, "now = time;");
    for (uint32_t v = 0; v < x->m->nevent; v++)
        if (x->m->event[v].each) {
            hg_do(c.out, "at[%u] = time;", v);
            hg_do(c.out, "fit_ode_happens(&ode, &events, %u, x);", v);
            hg_do(c.out, "at[%u] = INFINITY;", v);
        }
    if (x->by_rows)
        hg_do(c.out, "flow.last = row;");
    each_carried(x, &c, write_table);
    hg_line(c.out, "for (size_t k = 0; k < %u; k++)", n);
    hg_line(c.out, "    check += 0.0 * x[k];");
    hg_close(c.out);
    each_carried(x, &c, write_padding);
    hg_code_pop(&c);
    hg_code_end(&c);
}

static void write_rows(struct march *x, struct hg_tree *out)
{
    struct hg_code c = begin(x, out);
    declare_before(x, &c);
    set_before(x, &c);
    if (follows(x))
        keep_carried(x, &c, "l->from > first", 1);
    hg_open(c.out, "for (size_t row = %s; row < end; row++) {",
            follows(x) ? "l->from > first ? l->from : first" : "first");
    hg_code_push(&c);
    take_steps(x, &c);
    store(x, &c);
    if (follows(x))
        keep_carried(x, &c, "l->carried && row == l->from", 0);
    hg_code_pop(&c);
    hg_close(c.out);
    end_group(x, &c);
    hg_code_pop(&c);
    hg_code_end(&c);
}

static void write(struct march *x, const char *name, struct hg_tree *out)
{
    x->name = name;
    if (x->m->flow)
        write_rates(x, out);
    if (x->m->flow && x->width == 1)
        write_jacobian(x, out);
    if (x->m->nevent)
        write_jumps(x, out);
    hg_open_function(out, "static int", name, "const struct fit_layout *l, const double *theta, const struct tables w");
    hg_emit_declare_names(x->em, out);
    hg_declare(out, "double", "check = 0.0; /* NaN where a state is not finite */");
    hg_open(out, "for (size_t g = 0; g < l->ngroup; g++) {");
    hg_line(out, "const size_t first = fit_rows_first(l, g), end = fit_rows_end(l, g);\nif (first == end)\n"
                 "    continue;");
    if (x->m->flow)
        write_solution(x, out);
    else
        write_rows(x, out);
    hg_close(out);
    hg_line(out, "return check == 0.0;");
    hg_close_function(out);
}

/* All leaves must exist before functions begin. */
static void make_leaves(const struct march *x)
{
    for (uint32_t q = 0; q < x->m->n; q++)
        for (uint32_t k = 0; k <= x->em->p->nparam; k++)
            for (int before = 0; before < 2; before++)
                hg_carried(x->em->e, q, before, k);
}

void hg_emit_march(struct hg_emit *em, struct hg_tree *out)
{
    struct march x = {.em = em, .m = em->e->march, .row = "row", .by_rows = hg_march_by_rows(em->e)};
    size_t most;
    if (!x.m)
        return;
    make_leaves(&x);
    most = (size_t)x.m->n * (em->p->nparam + 1);
    x.before = hg_alloc(em->e->arena, most * sizeof *x.before);
    x.now = hg_alloc(em->e->arena, most * sizeof *x.now);
    if (x.m->flow)
        hg_put(out, "#include \"fit/ode%s.h\"\n\n/* What the rates of states need to know. */\nstruct flow {\n"
                    "    const struct fit_layout *l;\n    const double *theta;\n    const struct tables *w;\n"
                    "    size_t g%s;\n};\n\n",
               x.m->nevent ? "_events" : "", x.by_rows ? ", last, row" : "");
    hg_put(out, "/* States, from row to row of each group; 0: something is not finite. */\n");
    x.width = 1;
    write(&x, "march_values", out);
    x.width = 1 + em->p->nparam;
    write(&x, "march_slopes", out);
}
