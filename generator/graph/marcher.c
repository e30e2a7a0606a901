/* marcher.c -- states in the reference interpreter: see marcher.h. */
#include "graph/marcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "fit/ode.h"

struct hg_marcher {
    const struct hg_expr *e;
    uint32_t width;                  /* numbers of a state: value, derivatives */
    struct hg_eval **first, **next;  /* by state: its value before the first row; its step */
    struct hg_num *before, *now;     /* state x width */
    struct hg_num *arg;              /* of the last march; the next members tell where it was: */
    const double *const *history;
    uint32_t nhistory;
    const double *row;               /* columns of the current row; NULL: those of the arguments times */
    uint32_t made_up;                /* the factor for a row so many rows before the own one */
    int valid;

    /* Of a differential equation. */
    struct hg_eval *from;
    hg_real time, end;           /* of the current rates; of the solution in `now` */
    struct hg_num *sharp, *stage;    /* solution to a tolerance far below the model's; stages of a step */
    int implicit;                    /* steps are */
    uint32_t points;                 /* of such a step */
    struct hg_eval *rates, *plain, *jacobian; /* of rates and their derivatives; rates alone; rates by values */
    int rates_run, plain_run, jacobian_run;   /* with the parameters at hand */
    hg_real *matrix, *side;          /* of an implicit step: its equations; right-hand side */
    hg_real *top;                    /* by state: the largest |value| since the start */
    hg_real *rounding;               /* by state: the effect of rounding in the rates, as hg_num.e */
    int sharpened;                   /* both are known */
    struct hg_eval **at, **jump;     /* of events: times; increments [event x state], NULL: none */
    hg_real begun, time_d;       /* of the first start; dual number of the time, in jumps */

    /* Of a solution that goes through rows (hg_march_by_rows), in rates: */
    uint32_t done;                   /* rows of a history that the solution has passed */
    uint32_t before_own;             /* made-up rows from the previous row to the own one: 0 or 1 */
    int by_rows, between, lone;      /* columns are interpolated between rows; there is no previous row */
    const double *last, *here;       /* previous and next row; NULL: that of the arguments */
    hg_real last_time, here_time;
};

static struct hg_eval *evaluator(const struct hg_expr *e, hg_id value, const hg_id *derivative, uint32_t n)
{
    hg_id *root = hg_zeros(n + 1, sizeof *root);
    uint32_t nroot = 0;
    root[nroot++] = value;
    for (uint32_t k = 0; k < n; k++)
        if (derivative[k])
            root[nroot++] = derivative[k];
    struct hg_eval *ev = hg_eval_new(e, nroot, root);
    free(root);
    return ev;
}

/* Evaluates the steps of all states and of their first n derivatives. */
static struct hg_eval *steps_evaluator(const struct hg_expr *e, uint32_t n)
{
    const struct hg_march *m = e->march;
    hg_id *root = hg_zeros((size_t)m->n * (n + 1), sizeof *root);
    uint32_t nroot = 0;
    for (uint32_t q = 0; q < m->n; q++) {
        root[nroot++] = m->state[q].step;
        for (uint32_t k = 0; k < n; k++)
            if (m->state[q].d_step[k])
                root[nroot++] = m->state[q].d_step[k];
    }
    struct hg_eval *ev = hg_eval_new(e, nroot, root);
    free(root);
    return ev;
}

static struct hg_eval *jacobian_evaluator(const struct hg_expr *e)
{
    const struct hg_march *m = e->march;
    hg_id *root = hg_zeros((size_t)m->n * m->n + 1, sizeof *root);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n * m->n; k++)
        if (m->jacobian[k])
            root[n++] = m->jacobian[k];
    struct hg_eval *ev = hg_eval_new(e, n, root);
    free(root);
    return ev;
}

static void open_events(struct hg_marcher *x)
{
    const struct hg_march *m = x->e->march;
    x->at = hg_zeros(m->nevent + 1, sizeof *x->at);
    x->jump = hg_zeros((size_t)m->nevent * m->n + 1, sizeof *x->jump);
    for (uint32_t v = 0; v < m->nevent; v++) {
        const struct hg_event *event = &m->event[v];
        x->at[v] = evaluator(x->e, event->at, event->d_at, x->width - 1);
        for (uint32_t q = 0; q < m->n; q++)
            if (event->jump[q])
                x->jump[v * m->n + q] = evaluator(x->e, event->jump[q], event->d_jump + (size_t)q * m->nparam,
                                                  x->width - 1);
    }
}

static void close_events(struct hg_marcher *x)
{
    const struct hg_march *m = x->e->march;
    for (uint32_t v = 0; v < m->nevent && x->at; v++) {
        hg_eval_free(x->at[v]);
        for (uint32_t q = 0; q < m->n; q++)
            hg_eval_free(x->jump[v * m->n + q]);
    }
    free(x->at);
    free(x->jump);
}

struct hg_marcher *hg_marcher_new(const struct hg_expr *e, int slopes)
{
    const struct hg_march *m = e->march;
    struct hg_marcher *x = hg_zeros(1, sizeof *x);
    x->e = e;
    x->width = 1 + (slopes ? m->nparam : 0);
    x->first = hg_zeros(m->n, sizeof *x->first);
    x->next = hg_zeros(m->n, sizeof *x->next);
    x->before = hg_zeros((size_t)m->n * x->width, sizeof *x->before);
    x->now = hg_zeros((size_t)m->n * x->width, sizeof *x->now);
    x->arg = hg_zeros(m->narg + 1, sizeof *x->arg);
    for (uint32_t q = 0; q < m->n; q++) {
        x->first[q] = evaluator(e, m->state[q].before, m->state[q].d_before, x->width - 1);
        if (!m->flow)
            x->next[q] = evaluator(e, m->state[q].step, m->state[q].d_step, x->width - 1);
    }
    if (m->flow) {
        x->from = evaluator(e, m->from, NULL, 0);
        x->sharp = hg_zeros((size_t)m->n * x->width, sizeof *x->sharp);
        x->stage = hg_zeros((FIT_ODE_STAGES + 1) * (size_t)m->n * x->width, sizeof *x->stage);
        x->jacobian = jacobian_evaluator(e);
        x->rates = steps_evaluator(e, x->width - 1);
        x->plain = steps_evaluator(e, 0);
        x->matrix = hg_zeros((size_t)(FIT_ODE_POINTS * m->n) * (FIT_ODE_POINTS * m->n), sizeof *x->matrix);
        x->side = hg_zeros((size_t)FIT_ODE_POINTS * m->n, sizeof *x->side);
        x->rounding = hg_zeros(m->n, sizeof *x->rounding);
        x->top = hg_zeros(m->n, sizeof *x->top);
        x->implicit = m->stiff;
        x->by_rows = hg_march_by_rows(e);
        open_events(x);
    }
    return x;
}

void hg_marcher_free(struct hg_marcher *x)
{
    if (!x)
        return;
    for (uint32_t q = 0; q < x->e->march->n; q++) {
        hg_eval_free(x->first[q]);
        hg_eval_free(x->next[q]);
    }
    close_events(x);
    hg_eval_free(x->from);
    hg_eval_free(x->rates);
    hg_eval_free(x->plain);
    hg_eval_free(x->jacobian);
    free(x->matrix);
    free(x->side);
    free(x->rounding);
    free(x->top);
    free(x->sharp);
    free(x->stage);
    free(x->first);
    free(x->next);
    free(x->before);
    free(x->now);
    free(x->arg);
    free(x);
}

/* The factor of a column so many rows before the own one: columns grow, each at its own rate. */
static hg_real part_of(uint32_t rows, uint32_t column)
{
    return real_power(1 - (hg_real)rows / (HG_MADE_UP_ROWS + 1), 1 + (hg_real)37 / 100 * ((5 * column + 2) % 4));
}

static struct hg_num scaled(struct hg_num x, hg_real by)
{
    return (struct hg_num){x.v * by, x.d * by, x.e * by};
}

/* Column `leaf` of a row; NULL: of the arguments, or of a made-up row so many rows before. */
static hg_real column_at(const struct hg_marcher *x, const double *row, hg_id leaf, uint32_t made_up)
{
    const struct hg_march *m = x->e->march;
    const uint32_t column = hg_at(x->e, leaf)->ref;
    for (uint32_t k = 1; !row && k <= m->narg; k++)
        if (m->arg[k] == leaf)
            return x->arg[k].v * (made_up ? part_of(made_up, column) : 1);
    return row ? row[column] : NAN;
}

/* The same between rows, at the time of the rates. */
static struct hg_num column_between(const struct hg_marcher *x, hg_id leaf)
{
    const hg_real here = column_at(x, x->here, leaf, x->made_up);
    const hg_real last = x->lone ? here : column_at(x, x->last, leaf, x->made_up ? x->made_up + 1 : x->before_own);
    const hg_real span = x->here_time - x->last_time;
    if (x->e->march->held)
        return (struct hg_num){last, 0, 0};
    return (struct hg_num){span > 0 && !x->lone ? last + (here - last) * (x->time - x->last_time) / span : here, 0, 0};
}

struct hg_num hg_marcher_leaf(const struct hg_marcher *x, hg_id leaf)
{
    const struct hg_node *n = hg_at(x->e, leaf);
    const struct hg_march *m = x->e->march;
    const struct hg_carried_place p = hg_carried_at(n->ref);
    if (n->op == HG_CARRIED)
        return (p.before ? x->before : x->now)[p.state * x->width + p.k];
    if (m->flow && leaf == m->time)
        return (struct hg_num){x->time, x->time_d, 0};
    if (n->op == HG_COLUMN && x->between)
        return column_between(x, leaf);
    if (n->op == HG_COLUMN && x->row)
        return (struct hg_num){x->row[n->ref], 0, 0};
    for (uint32_t k = 1; k <= m->narg; k++)
        if (m->arg[k] == leaf)
            return n->op == HG_COLUMN && x->made_up ? scaled(x->arg[k], part_of(x->made_up, n->ref)) : x->arg[k];
    hg_bug("marcher: a symbol that no step has");
}

/* Value and derivatives of state q, as the evaluator has them, to `to`. Derivatives carry no dual numbers. */
static void collect(const struct hg_marcher *x, const struct hg_eval *ev, hg_id value, const hg_id *derivative,
                    uint32_t q, struct hg_num *to)
{
    to += q * x->width;
    to[0] = hg_eval_get(ev, value, 0);
    for (uint32_t k = 0; k + 1 < x->width; k++)
        if (derivative[k]) {
            to[1 + k] = hg_eval_get(ev, derivative[k], 0);
            to[1 + k].d = 0;
        }
}

static void take(struct hg_marcher *x, struct hg_eval *ev, hg_id value, const hg_id *derivative, uint32_t q,
                 struct hg_num *to)
{
    const struct hg_point p = {.march = x};
    hg_eval_run(ev, &p);
    collect(x, ev, value, derivative, q, to);
}

/* Evaluations that are repeated along a solution. */
static void run_along(struct hg_marcher *x, struct hg_eval *ev, int *run)
{
    const struct hg_point p = {.march = x};
    (*run ? hg_eval_along : hg_eval_run)(ev, &p);
    *run = 1;
}

static void march(struct hg_marcher *x, const struct hg_point *p)
{
    const struct hg_march *m = x->e->march;
    const uint32_t n = p->history ? p->nhistory : HG_MADE_UP_ROWS;
    for (uint32_t r = 0; r <= n; r++) {
        x->row = r < n && p->history ? p->history[r] : NULL;
        x->made_up = p->history ? 0 : n - r;
        for (uint32_t q = 0; q < m->n && r == 0; q++)
            take(x, x->first[q], m->state[q].before, m->state[q].d_before, q, x->before);
        if (r)
            memcpy(x->before, x->now, (size_t)m->n * x->width * sizeof *x->now);
        for (uint32_t k = 0; k < m->n; k++) {
            const uint32_t q = m->order[k];
            take(x, x->next[q], m->state[q].step, m->state[q].d_step, q, x->now);
        }
    }
}

/* --- differential equations ---------------------------------------------------------------------------------- */

enum { PATIENCE = 2000 }; /* number of explicit steps after which the problem is taken to be stiff */
static const hg_real ROUGH = 1e-3L; /* tolerance where any solution will do */

/* Stores the rates of change at y and the time x->time in k. */
static void rates(struct hg_marcher *x, const struct hg_num *y, struct hg_num *k)
{
    const struct hg_march *m = x->e->march;
    memcpy(x->now, y, (size_t)m->n * x->width * sizeof *y);
    run_along(x, x->rates, &x->rates_run);
    for (uint32_t q = 0; q < m->n; q++)
        collect(x, x->rates, m->state[q].step, m->state[q].d_step, q, k);
}

/* y + h sum_s c_s k_s, of values, dual numbers and derivatives alike. */
static void advance(const struct hg_marcher *x, size_t n, const struct hg_num *y, hg_real h, uint32_t stages,
                    const double *c, struct hg_num *to)
{
    for (size_t i = 0; i < n; i++) {
        hg_real v = 0, d = 0;
        for (uint32_t s = 0; s < stages; s++) {
            if (c[s] == 0)
                continue;
            v += c[s] * x->stage[s * n + i].v;
            d += c[s] * x->stage[s * n + i].d;
        }
        to[i] = (struct hg_num){y[i].v + h * v, y[i].d + h * d, 0};
    }
}

/* Error of the values relative to the tolerance: fit/ode.h. */
static hg_real step_error(const struct hg_marcher *x, size_t n, const struct hg_num *y, const hg_real *top,
                              hg_real h, hg_real tolerance)
{
    hg_real five = 0, three = 0, all = 0;
    const uint32_t nstate = x->e->march->n;
    for (uint32_t q = 0; q < nstate; q++)
        all = real_max(all, top[q]);
    for (uint32_t q = 0; q < nstate; q++) {
        const size_t i = (size_t)q * x->width;
        hg_real e5 = 0, e3 = 0, size = real_max(real_max(real_abs(y[i].v), 1e-9L * top[q]), 1e-12L * all);
        size = tolerance * real_max(size, real_abs(h * x->stage[i].v)) + 1e-300L;
        for (uint32_t s = 0; s < FIT_ODE_STAGES; s++) {
            e5 += fit_ode_e5[s] * x->stage[s * n + i].v;
            e3 += fit_ode_e3[s] * x->stage[s * n + i].v;
        }
        five += e5 * e5 / (size * size);
        three += e3 * e3 / (size * size);
    }
    return five > 0 || three > 0 ? real_abs(h) * five / real_sqrt((five + 0.01L * three) * nstate) : 0;
}

/* One step from t, in y; returns the error of its values. */
static hg_real one_step(struct hg_marcher *x, hg_real t, hg_real h, const hg_real *top,
                            hg_real tolerance, struct hg_num *y, struct hg_num *work)
{
    const size_t n = (size_t)x->e->march->n * x->width;
    const double *a = fit_ode_a;
    x->time = t;
    rates(x, y, x->stage);
    for (uint32_t s = 1; s < FIT_ODE_STAGES; a += s, s++) {
        advance(x, n, y, h, s, a, work);
        x->time = t + fit_ode_c[s] * h;
        rates(x, work, x->stage + s * n);
    }
    const hg_real error = step_error(x, n, y, top, h, tolerance);
    if (error < 1)
        advance(x, n, y, h, FIT_ODE_STAGES, fit_ode_b, y);
    return error;
}

/* --- implicit steps: fit/ode_implicit.h; where any solution will do, Euler's, of one point, each longer than the last
 * --- */

enum { POINTS = FIT_ODE_POINTS };
static const hg_real EULER_FIRST = 1e-12L,
                         EULER_ERROR = 0.0022L; /* part of the way; makes steps 2.5 times as long */

static hg_real point_of(const struct hg_marcher *x, uint32_t j)
{
    return x->points == 1 ? 1 : fit_radau_c[j];
}

static hg_real weight_of(const struct hg_marcher *x, uint32_t p, uint32_t j)
{
    return x->points == 1 ? 1 : fit_radau_a[p][j];
}

/* a <- L U, rows exchanged as pivot tells. */
static void eliminate(uint32_t n, hg_real *a, uint32_t *pivot)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = i;
        for (uint32_t r = i + 1; r < n; r++)
            best = real_abs(a[r * n + i]) > real_abs(a[best * n + i]) ? r : best;
        pivot[i] = best;
        for (uint32_t c = 0; c < n; c++) {
            const hg_real swap = a[i * n + c];
            a[i * n + c] = a[best * n + c];
            a[best * n + c] = swap;
        }
        for (uint32_t r = i + 1; r < n; r++) {
            if (a[r * n + i] == 0)
                continue;
            const hg_real by = a[r * n + i] /= a[i * n + i];
            for (uint32_t c = i + 1; c < n; c++)
                a[r * n + c] -= by * a[i * n + c];
        }
    }
}

static void back(uint32_t n, const hg_real *a, const uint32_t *pivot, hg_real *b)
{
    for (uint32_t i = 0; i < n; i++) {
        const hg_real swap = b[i];
        b[i] = b[pivot[i]];
        b[pivot[i]] = swap;
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t c = 0; c < i; c++)
            b[i] -= a[i * n + c] * b[c];
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t c = i + 1; c < n; c++)
            b[i] -= a[i * n + c] * b[c];
        b[i] /= a[i * n + i];
    }
}

/* d rate q / d value r at the state in x->now and the time x->time. */
static void jacobian(struct hg_marcher *x)
{
    run_along(x, x->jacobian, &x->jacobian_run);
}

static hg_real slope_of(const struct hg_marcher *x, uint32_t q, uint32_t r)
{
    const hg_id id = x->e->march->jacobian[q * x->e->march->n + r];
    return id ? hg_eval_get(x->jacobian, id, 0).v : 0;
}

/* Stores the rates of change of the values alone at y and the time x->time in k. */
static void plain_rates(struct hg_marcher *x, const struct hg_num *y, struct hg_num *k)
{
    const struct hg_march *m = x->e->march;
    memcpy(x->now, y, (size_t)m->n * x->width * sizeof *y);
    run_along(x, x->plain, &x->plain_run);
    for (uint32_t q = 0; q < m->n; q++)
        k[q * x->width] = hg_eval_get(x->plain, m->state[q].step, 0);
}

/* Rates at the points y + z, all of them or only those of the values: stage[j n ..]; matrix <- triangular form of 1
 * - h a x jacobian there. */
static void at_points(struct hg_marcher *x, hg_real t, hg_real h, const struct hg_num *y,
                      const struct hg_num *z, uint32_t *pivot, int all)
{
    const uint32_t ns = x->e->march->n, m = x->points * ns;
    const size_t n = (size_t)ns * x->width;
    struct hg_num *at = x->stage + (size_t)FIT_ODE_STAGES * n;
    for (uint32_t j = 0; j < x->points; j++) {
        for (size_t i = 0; i < n; i++)
            at[i] = (struct hg_num){y[i].v + z[j * n + i].v, y[i].d + z[j * n + i].d, 0};
        x->time = t + point_of(x, j) * h;
        (all ? rates : plain_rates)(x, at, x->stage + j * n);
        jacobian(x);
        for (uint32_t p = 0; p < x->points; p++)
            for (uint32_t q = 0; q < ns; q++)
                for (uint32_t r = 0; r < ns; r++)
                    x->matrix[(size_t)(p * ns + q) * m + j * ns + r] =
                        (p == j && q == r) - h * weight_of(x, p, j) * slope_of(x, q, r);
    }
    eliminate(m, x->matrix, pivot);
}

/* The component of a number that is solved for: column 0 the value, 1 its dual number, 1 + k its derivative by
 * parameter k.
 */
static hg_real *part_at(struct hg_num *of, uint32_t column)
{
    return column == 1 ? &of[0].d : column == 0 ? &of[0].v : &of[column - 1].v;
}

/* z <- z + the residual of z = h a f, in one column; leaves the corrections in side. */
static void correct(struct hg_marcher *x, hg_real h, uint32_t column, struct hg_num *z, const uint32_t *pivot)
{
    const uint32_t ns = x->e->march->n;
    const size_t n = (size_t)ns * x->width;
    for (uint32_t p = 0; p < x->points; p++)
        for (uint32_t q = 0; q < ns; q++) {
            hg_real sum = 0;
            for (uint32_t j = 0; j < x->points; j++)
                sum += weight_of(x, p, j) * *part_at(x->stage + j * n + (size_t)q * x->width, column);
            x->side[p * ns + q] = h * sum - *part_at(z + p * n + (size_t)q * x->width, column);
        }
    back(x->points * ns, x->matrix, pivot, x->side);
    for (uint32_t p = 0; p < x->points; p++)
        for (uint32_t q = 0; q < ns; q++)
            *part_at(z + p * n + (size_t)q * x->width, column) += x->side[p * ns + q];
}

/* The effect of rounding in the rates on the end of the step, for each state. */
static void add_rounding(struct hg_marcher *x, hg_real h, const uint32_t *pivot)
{
    const uint32_t ns = x->e->march->n;
    const size_t n = (size_t)ns * x->width;
    for (uint32_t s = 0; s < ns; s++) {
        for (uint32_t k = 0; k < x->points * ns; k++)
            x->side[k] = 0;
        for (uint32_t p = 0; p < x->points; p++)
            for (uint32_t j = 0; j < x->points; j++)
                x->side[p * ns + s] += real_abs(h) * weight_of(x, p, j) * x->stage[j * n + (size_t)s * x->width].e;
        back(x->points * ns, x->matrix, pivot, x->side);
        for (uint32_t q = 0; q < ns; q++)
            x->rounding[q] += real_abs(x->side[(x->points - 1) * ns + q]);
    }
}

static hg_real size_of(const struct hg_marcher *x, const struct hg_num *y, const hg_real *top, uint32_t q,
                           hg_real gain)
{
    hg_real all = 0;
    for (uint32_t s = 0; s < x->e->march->n; s++)
        all = real_max(all, top[s]);
    const hg_real size = real_max(real_max(real_abs(y[(size_t)q * x->width].v), 1e-9L * top[q]), 1e-12L * all);
    return real_max(size, real_abs(gain)) + 1e-300L;
}

/* Error of the step to the points z relative to the tolerance. */
static hg_real implicit_error(struct hg_marcher *x, hg_real t, hg_real h, const hg_real *top,
                                  hg_real tolerance, const struct hg_num *y, const struct hg_num *z)
{
    const uint32_t ns = x->e->march->n;
    const size_t n = (size_t)ns * x->width;
    uint32_t pivot[HG_MOST_STATES];
    hg_real sum = 0, e[HG_MOST_STATES];
    struct hg_num *first = x->stage + POINTS * n;
    x->time = t;
    plain_rates(x, y, first);
    jacobian(x);
    for (uint32_t q = 0; q < ns; q++) {
        e[q] = h * fit_radau_gamma * first[(size_t)q * x->width].v;
        for (uint32_t j = 0; j < POINTS; j++)
            e[q] += h * fit_radau_e[j] * x->stage[j * n + (size_t)q * x->width].v;
        for (uint32_t r = 0; r < ns; r++)
            x->matrix[q * ns + r] = (q == r) - h * fit_radau_gamma * slope_of(x, q, r);
    }
    eliminate(ns, x->matrix, pivot);
    back(ns, x->matrix, pivot, e);
    for (uint32_t q = 0; q < ns; q++) {
        const hg_real gain = z[(POINTS - 1) * n + (size_t)q * x->width].v;
        const hg_real one = e[q] / (0.1L * real_power(tolerance, 0.6L) * size_of(x, y, top, q, gain));
        sum += one * one;
    }
    return real_sqrt(sum / ns);
}

/* Newton's method for the points z of a step. Returns 1 when corrections are a thousandth of the tolerance, or as
 * small as rounding of the rates permits. */
static int newton(struct hg_marcher *x, hg_real t, hg_real h, const hg_real *top, hg_real tolerance,
                  const struct hg_num *y, struct hg_num *z, uint32_t *pivot)
{
    const uint32_t ns = x->e->march->n;
    hg_real last = HUGE_VALL;
    for (int turn = 0; turn < 12; turn++) {
        hg_real change = 0;
        at_points(x, t, h, y, z, pivot, 0);
        correct(x, h, 0, z, pivot);
        for (uint32_t k = 0; k < x->points * ns; k++)
            change = real_max(change, real_abs(x->side[k]) / (tolerance * size_of(x, y, top, k % ns, 0)));
        if (change < 1e-3L || (turn > 2 && change < 0.1L && change > 0.5L * last))
            return 1;
        last = change;
    }
    return 0;
}

/* One step from t, in y; returns the error of its values. */
static hg_real implicit_step(struct hg_marcher *x, hg_real t, hg_real h, const hg_real *top,
                                 hg_real tolerance, struct hg_num *y)
{
    const uint32_t ns = x->e->march->n;
    const size_t n = (size_t)ns * x->width;
    struct hg_num *z = hg_zeros(POINTS * n, sizeof *z);
    uint32_t *pivot = hg_zeros((size_t)POINTS * ns, sizeof *pivot);
    hg_real error = HUGE_VALL;
    if (newton(x, t, h, top, tolerance, y, z, pivot)) {
        error = x->points == 1 ? EULER_ERROR : implicit_error(x, t, h, top, tolerance, y, z);
        if (error < 1)
            at_points(x, t, h, y, z, pivot, 1);
        for (uint32_t column = 1; column <= x->width && error < 1; column++)
            correct(x, h, column, z, pivot);
    }
    if (error < 1) {
        add_rounding(x, h, pivot);
        for (size_t i = 0; i < n; i++)
            y[i] = (struct hg_num){y[i].v + z[(x->points - 1) * n + i].v, y[i].d + z[(x->points - 1) * n + i].d, 0};
    }
    free(z);
    free(pivot);
    return error;
}

static int is_moderate(const struct hg_marcher *x, const struct hg_num *y)
{
    for (uint32_t q = 0; q < x->e->march->n; q++)
        if (!(real_abs(y[(size_t)q * x->width].v) < 1e60L))
            return 0;
    return 1;
}

/* From t to `end`, in at most so many steps; returns the time that it reached. */
static hg_real advance_to(struct hg_marcher *x, hg_real t, hg_real end, hg_real tolerance, int strict,
                              hg_real *top, struct hg_num *y)
{
    const uint32_t most = strict ? 20000 : x->implicit ? 100 : x->by_rows ? 8 : 32, nstate = x->e->march->n;
    struct hg_num *work = x->stage + FIT_ODE_STAGES * (size_t)nstate * x->width;
    hg_real step = real_abs(end - t) * (x->implicit && !strict ? EULER_FIRST : 0.0625L);
    uint32_t patience = PATIENCE;
    x->points = strict ? POINTS : 1;
    for (uint32_t steps = 0; t != end && steps < most && step > 0 && (strict || is_moderate(x, y)); steps++) {
        for (uint32_t q = 0; q < nstate; q++)
            top[q] = real_max(top[q], real_abs(y[(size_t)q * x->width].v));
        const int last = step >= real_abs(end - t);
        const hg_real h = last ? end - t : end < t ? -step : step;
        x->implicit |= !patience--;
        const hg_real error = x->implicit ? implicit_step(x, t, h, top, tolerance, y)
                                              : one_step(x, t, h, top, tolerance, y, work);
        const hg_real factor = error > 0 ? 0.9L * real_power(error, x->implicit ? -1.0L / 6 : -0.125L) : 6;
        step = real_abs(h) * real_min(real_max(isfinite(factor) ? factor : 0.2L, 0.2L), 6);
        if (error < 1)
            t = last ? end : t + h;
        if (t + h == t)
            break;
    }
    return t;
}

/* For a rough solution that diverges in a few explicit steps: repeats it from its start y0 by implicit Euler steps,
 * and takes it if these reach the end. */
static void try_implicit(struct hg_marcher *x, hg_real t, hg_real end, const struct hg_num *y0,
                         struct hg_num *y)
{
    const size_t n = (size_t)x->e->march->n * x->width;
    struct hg_num *other = hg_zeros(n, sizeof *other);
    hg_real top[HG_MOST_STATES] = {0};
    memcpy(other, y0, n * sizeof *other);
    x->implicit = 1;
    if (advance_to(x, t, end, ROUGH, 0, top, other) == end && is_moderate(x, other))
        memcpy(y, other, n * sizeof *y);
    x->implicit = 0;
    free(other);
}

/* From t to `end`. When the end cannot be reached: the value is not a number if the value itself matters (strict);
 * otherwise the solution stays where it is, and the model is tested there as at any other point. */
static void solve(struct hg_marcher *x, hg_real t, hg_real end, hg_real tolerance, int strict,
                  struct hg_num *y)
{
    const uint32_t nstate = x->e->march->n;
    const size_t n = (size_t)nstate * x->width;
    hg_real top[HG_MOST_STATES] = {0};
    struct hg_num *y0 = hg_zeros(n, sizeof *y0);
    memcpy(y0, y, n * sizeof *y);
    const hg_real reached = advance_to(x, t, end, tolerance, strict, top, y);
    if (!strict && !is_moderate(x, y) && !x->implicit)
        try_implicit(x, t, end, y0, y);
    if (!strict && !is_moderate(x, y))
        memcpy(y, y0, n * sizeof *y);
    free(y0);
    for (uint32_t q = 0; q < nstate; q++)
        x->top[q] = real_max(x->top[q], real_max(top[q], real_abs(y[(size_t)q * x->width].v)));
    for (uint32_t q = 0; !strict && q < nstate; q++) { /* a value that has died out is below 0 only through roughness */
        struct hg_num *v = &y[(size_t)q * x->width];
        if (v->v < 0 && v->v > -ROUGH * top[q])
            v->v = -v->v;
    }
    for (uint32_t q = 0; strict && reached != end && q < nstate; q++)
        y[(size_t)q * x->width].v = NAN;
}

/* Takes derivatives and dual numbers of y from a fixed time to the moving one of event v (sign 1), or back (-1). */
static void move(struct hg_marcher *x, uint32_t v, struct hg_num at, hg_real sign, struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    struct hg_num *k = x->stage;
    x->time = at.v;
    plain_rates(x, y, k);
    for (uint32_t q = 0; q < m->n; q++) {
        const size_t i = (size_t)q * x->width;
        y[i].d += sign * k[i].v * at.d;
        for (uint32_t p = 1; p < x->width; p++)
            if (m->event[v].d_at[p - 1])
                y[i + p].v += sign * k[i].v * hg_eval_get(x->at[v], m->event[v].d_at[p - 1], 0).v;
    }
}

/* Applies event v to y at its time. */
static void happen(struct hg_marcher *x, uint32_t v, struct hg_num at, struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    const size_t n = (size_t)m->n * x->width;
    struct hg_num *change = x->stage;
    move(x, v, at, 1, y);
    memcpy(x->now, y, n * sizeof *y);
    memset(change, 0, n * sizeof *change);
    x->time = at.v;
    x->time_d = at.d;
    const int between = x->between;
    x->between = 0;
    for (uint32_t q = 0; q < m->n; q++)
        if (x->jump[v * m->n + q])
            take(x, x->jump[v * m->n + q], m->event[v].jump[q], m->event[v].d_jump + (size_t)q * m->nparam, q,
                 change);
    x->between = between;
    x->time_d = 0;
    for (size_t i = 0; i < n; i++)
        y[i] = (struct hg_num){y[i].v + change[i].v, y[i].d + change[i].d, 0};
    move(x, v, at, -1, y);
}

/* The next event after number `last` at the time t (last = nevent: none yet); stores its time in at. */
static uint32_t next_event(const struct hg_marcher *x, hg_real t, uint32_t last, struct hg_num *at)
{
    const struct hg_march *m = x->e->march;
    uint32_t best = m->nevent;
    for (uint32_t v = 0; v < m->nevent; v++) {
        if (m->event[v].each)
            continue;
        const struct hg_num one = hg_eval_get(x->at[v], m->event[v].at, 0);
        const int behind = one.v > t || (one.v == t && (last == m->nevent || v > last));
        if (behind && one.v >= x->begun && (best == m->nevent || one.v < at->v)) {
            best = v;
            *at = one;
        }
    }
    return best;
}

/* From t to `end` through all events; those at t itself have happened, except at the very start (first). */
static void solve_through(struct hg_marcher *x, hg_real t, hg_real end, int first, hg_real tolerance,
                          int strict, struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    const struct hg_point inside = {.march = x};
    struct hg_num at = {0};
    uint32_t last = first ? m->nevent : m->nevent - 1, v;
    const int between = x->between;
    x->between = 0;
    for (uint32_t k = 0; k < m->nevent; k++)
        hg_eval_run(x->at[k], &inside);
    x->between = between;
    while (m->nevent && (v = next_event(x, t, last, &at)) < m->nevent && at.v <= end) {
        solve(x, t, at.v, tolerance, strict, y);
        happen(x, v, at, y);
        t = at.v;
        last = v;
    }
    solve(x, t, end, tolerance, strict, y);
}

/* The effect of rounding in the rates on number i; for a derivative, ten times the effect on its value. */
static hg_real rounded(const struct hg_marcher *x, size_t i)
{
    const size_t q = i / x->width;
    const hg_real value = real_abs(x->now[q * x->width].v);
    return i % x->width == 0 ? x->rounding[q] : value > 0 ? 10 * x->rounding[q] / value * real_abs(x->now[i].v) : 0;
}

/* Of a parameter of the steps. */
static hg_real theta_of(const struct hg_marcher *x, uint32_t parameter)
{
    const struct hg_march *m = x->e->march;
    for (uint32_t k = 1; k <= m->narg; k++)
        if (hg_at(x->e, m->arg[k])->op == HG_PARAM && hg_at(x->e, m->arg[k])->ref == parameter)
            return real_abs(x->arg[k].v);
    return 0;
}

/* The tolerance of number i of y. For a value: a fraction of it, or of a minimum part of the largest value that it,
 * or any other, has had (fit_ode_size). For its derivatives: as much of them, or of a small fraction of value over
 * parameter (fit_ode_slope_size). */
static hg_real allowed(const struct hg_marcher *x, const struct hg_num *y, size_t i)
{
    const size_t q = i / x->width;
    const hg_real value = real_abs(y[q * x->width].v);
    const hg_real least = size_of(x, y, x->top, (uint32_t)q, 0);
    const hg_real more = value > 0 ? real_min(least / value, 1e12L) : 1;
    const uint32_t column = (uint32_t)(i % x->width);
    const hg_real theta = column ? theta_of(x, column - 1) : 0, small = theta > 0 ? 1e-3L * least / theta : 0;
    return (column ? 3000 : 300) * x->e->march->tolerance * real_max(more * real_abs(y[i].v), small);
}

/* Back to the start: the states `before`, in the solution y and in the sharp one. */
static void begin_flow(struct hg_marcher *x, struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    const size_t n = (size_t)m->n * x->width;
    const struct hg_point inside = {.march = x};
    x->between = 0;
    hg_eval_run(x->from, &inside);
    x->begun = hg_eval_get(x->from, m->from, 0).v;
    for (uint32_t q = 0; q < m->n; q++)
        take(x, x->first[q], m->state[q].before, m->state[q].d_before, q, x->before);
    memcpy(x->sharp, x->before, n * sizeof *y);
    memcpy(y, x->before, n * sizeof *y);
    memset(x->rounding, 0, m->n * sizeof *x->rounding);
    memset(x->top, 0, m->n * sizeof *x->top);
    x->implicit = m->stiff;
}

/* Both solutions from t to `end`. */
static void go(struct hg_marcher *x, const struct hg_point *p, hg_real t, hg_real end, int first,
               struct hg_num *y)
{
    const hg_real tolerance = x->e->march->tolerance;
    if (p->sharp)
        solve_through(x, t, end, first, real_max(1e-2L * tolerance, 1e-15L), 1, x->sharp);
    solve_through(x, t, end, first, p->sharp ? tolerance : real_max(tolerance, ROUGH), p->sharp, y);
}

/* Applies the events of every row to row `row`, at the time t. */
static void row_events(struct hg_marcher *x, const struct hg_point *p, const double *row, hg_real t,
                       struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    const double *first = x->row;
    x->row = row;
    for (uint32_t v = 0; v < m->nevent; v++)
        if (m->event[v].each) {
            happen(x, v, (struct hg_num){t, 0, 0}, y);
            if (p->sharp)
                happen(x, v, (struct hg_num){t, 0, 0}, x->sharp);
        }
    x->row = first;
}

/* From row to row, starting at the row `first` (0: the start). Where time goes back, the solution starts again. Rows
 * are made up where there is no history and any solution will do. */
static void go_through_rows(struct hg_marcher *x, const struct hg_point *p, hg_real end, uint32_t first,
                            struct hg_num *y)
{
    const struct hg_march *m = x->e->march;
    const double *const *history = p->sharp ? p->history : NULL;
    const uint32_t n = history ? p->nhistory : HG_MADE_UP_ROWS;
    x->row = history && n ? history[0] : NULL;
    x->before_own = !history;
    for (uint32_t r = first; r <= n; r++) {
        x->here = r < n && history ? history[r] : NULL;
        x->last = r && history ? history[r - 1] : NULL;
        x->made_up = history ? 0 : n - r;
        x->here_time = r < n ? column_at(x, x->here, m->time, x->made_up) : end;
        const int again = r == 0 || !(x->here_time >= x->end);
        if (again)
            begin_flow(x, y);
        x->last_time = again ? x->here_time : x->end;
        x->lone = again;
        x->between = 1;
        go(x, p, again ? x->begun : x->end, x->here_time, again, y);
        row_events(x, p, x->here, x->here_time, y);
        x->between = 0;
        x->end = x->here_time;
    }
    x->done = n + 1;
}

/* The solution at the time of p, continued from the last point where possible. Its error is that of the model's
 * tolerance, estimated by a solution of a smaller one. */
static void flow(struct hg_marcher *x, const struct hg_point *p, hg_real end, int goes_on)
{
    const struct hg_march *m = x->e->march;
    const size_t n = (size_t)m->n * x->width;
    struct hg_num *y = hg_zeros(n, sizeof *y);
    const int first = !goes_on || !p->sharp || !x->sharpened;
    x->row = p->history && p->nhistory ? p->history[0] : NULL;
    x->made_up = 0;
    if (first && !x->by_rows) /* a rough solution always starts anew */
        begin_flow(x, y);
    else
        memcpy(y, x->before, n * sizeof *y); /* between points: the solution */
    if (x->by_rows)
        go_through_rows(x, p, end, first ? 0 : x->done, y);
    else
        go(x, p, first ? x->begun : x->end, end, first, y);
    memcpy(x->before, y, n * sizeof *y);
    memcpy(x->now, p->sharp ? x->sharp : y, n * sizeof *y);
    for (size_t i = 0; i < n; i++) /* kernels take other steps; derivatives do not influence their choice */
        x->now[i].e =
            (allowed(x, y, i) + (p->sharp ? 10 * real_abs(y[i].v - x->sharp[i].v) : 0)) * 0x1p53L + rounded(x, i);
    x->end = end;
    x->sharpened = p->sharp;
    free(y);
}

static int same(const struct hg_num *a, const struct hg_num *b)
{
    return a->v == b->v && a->d == b->d && a->e == b->e;
}

struct hg_num hg_marcher_get(struct hg_marcher *x, struct hg_carried_place place, const struct hg_num *arg,
                             const struct hg_point *p)
{
    const struct hg_march *m = x->e->march;
    int goes_on = x->valid && x->history == p->history, known = goes_on && x->nhistory == p->nhistory;
    hg_real time = 0;
    goes_on = goes_on && (!x->by_rows || (p->history && p->nhistory > x->nhistory));
    for (uint32_t k = 1; k <= m->narg; k++) {
        const int is_time = m->flow && m->arg[k] == m->time;
        const int own = x->by_rows && hg_at(x->e, m->arg[k])->op == HG_COLUMN;
        known = known && same(&x->arg[k], &arg[k]);
        goes_on = goes_on && (is_time ? arg[k].v >= x->end : own || same(&x->arg[k], &arg[k]));
        time = is_time ? arg[k].v : time;
    }
    if (!known && m->flow) {
        memcpy(x->arg, arg, (m->narg + 1) * sizeof *arg);
        x->history = p->history;
        x->nhistory = p->nhistory;
        x->rates_run = x->plain_run = x->jacobian_run = 0;
        flow(x, p, time, goes_on);
        x->valid = 1;
    } else if (!known) {
        memcpy(x->arg, arg, (m->narg + 1) * sizeof *arg);
        x->history = p->history;
        x->nhistory = p->nhistory;
        x->valid = 1;
        march(x, p);
    }
    return (place.before ? x->before : x->now)[place.state * x->width + place.k];
}

#ifdef HG_WIDE
double hg_wide_marcher_double(struct hg_marcher *x, struct hg_carried_place place, const double *arg,
                              const struct hg_point *p)
{
    const uint32_t n = x->e->march->narg + 1;
    struct hg_num *wide = hg_zeros(n, sizeof *wide);
    for (uint32_t k = 1; k < n; k++)
        wide[k].v = arg[k];
    const double value = (double)hg_marcher_get(x, place, wide, p).v;
    free(wide);
    return value;
}
#endif
