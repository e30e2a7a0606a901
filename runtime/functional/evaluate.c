/* evaluate.c -- the phases of an objective, one after the other, each shared among threads. */
#include "functional/evaluate.h"

#include <string.h>

#include "fit/operator_data.h"
#include "functional/on_device.h"
#include "machine/team.h"

/* Operations of a part; a phase of less than two parts is not divided, because waking threads costs some 10
 * microseconds. There are no more parts than threads can use: units of one part share what they read. */
enum { PART = 100000, MOST_PARTS = 64 };

struct shared {
    const struct fit_phase *phase;
    const struct fit_functional_call *call;
    size_t units, cut;
};

static void part(void *user, size_t k, size_t thread)
{
    const struct shared *s = user;
    const size_t from = k * s->cut, to = from + s->cut < s->units ? from + s->cut : s->units;
    (void)thread;
    s->phase->run(s->call, from, to);
}

static size_t units_of(const struct fit_bound *b, const struct fit_phase *p)
{
    const struct fit_outer *outer = b->operation[p->operation];
    const struct fit_blocks *blocks = b->operation[p->operation];
    switch (p->unit) {
    case FIT_UNIT_ELEMENTS: return fit_blocks_of(b->size[p->axis]);
    case FIT_UNIT_ROWS: return (outer->nrow + FIT_UNIT_OF_ROWS - 1) / FIT_UNIT_OF_ROWS;
    case FIT_UNIT_BLOCKS: return blocks->n;
    default: return 1;
    }
}

/* Approximate number of operations of a unit. */
static double work_of(const struct fit_bound *b, const struct fit_phase *p)
{
    const struct fit_operator_desc *q = &b->o->operation[p->operation];
    const struct fit_outer *outer = b->operation[p->operation];
    const struct fit_dense *dense = b->operation[p->operation];
    if (p->work)
        return (double)p->work * FIT_BLOCK;
    if (p->unit == FIT_UNIT_ROWS)
        return 4.0 * FIT_UNIT_OF_ROWS * (double)outer->pitch * (double)outer->n;
    if (q->kind == FIT_OUTER)
        return 4.0 * FIT_BLOCK * (double)outer->pitch * (double)outer->nrow;
    return FIT_BLOCK * (double)(p->axis == q->to ? dense->nfrom : dense->n);
}

void fit_phase_run(struct fit_bound *b, const struct fit_phase *p, struct fit_functional_call *call)
{
    struct shared s = {p, call, units_of(b, p), b->cut};
    call->nblock = s.units;
    if (!s.cut) {
        s.cut = p->unit == FIT_UNIT_ONE ? 1 : (size_t)(PART / work_of(b, p)) + 1;
        s.cut = s.cut < s.units / MOST_PARTS ? s.units / MOST_PARTS : s.cut;
    }
    const size_t parts = (s.units + s.cut - 1) / s.cut;
    if (parts > 1)
        fit_team_run((struct fit_team){.threads = b->threads, .order = FIT_TEAM_SHARE}, parts, part, &s);
    else if (parts)
        part(&s, 0, 0);
}

double fit_sum_tree(double *x, size_t n)
{
    if (n == 0)
        return 0;
    for (size_t step = 1; step < n; step *= 2)
        for (size_t k = 0; k + step < n; k += 2 * step)
            x[k] += x[k + step];
    return x[0];
}

static void zero_slopes(struct fit_bound *b)
{
    const struct fit_functional *o = b->o;
    memset(b->number_slope, 0, o->nnumber * sizeof *b->number_slope);
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].moves && (o->array[k].need & b->on))
            memset(b->slope[k], 0, fit_blocks_of(b->size[o->array[k].axis]) * FIT_BLOCK * sizeof(double));
}

static void forward(struct fit_bound *b, struct fit_functional_call *call)
{
    const struct fit_functional *o = b->o;
    for (uint32_t k = 0; k < o->nforward; k++) {
        const struct fit_phase *p = &o->forward[k];
        if (!(p->need & b->on))
            continue;
        fit_phase_run(b, p, call);
        if (p->nsum)
            b->number[p->sum[0]] = fit_sum_tree(b->partial, call->nblock);
    }
    o->terms(call);
}

static void backward(struct fit_bound *b, struct fit_functional_call *call)
{
    const struct fit_functional *o = b->o;
    zero_slopes(b);
    o->seeds(call);
    for (uint32_t k = 0; k < o->nbackward; k++) {
        const struct fit_phase *p = &o->backward[k];
        if (!(p->need & b->on))
            continue;
        fit_phase_run(b, p, call);
        for (uint32_t i = 0; i < p->nsum; i++)
            b->number_slope[p->sum[i]] += fit_sum_tree(b->partial + i * call->nblock, call->nblock);
    }
}

/* Unknowns: copies x to the arrays, and the gradients of these to the gradient. */
static void scatter(struct fit_bound *b, const double *x)
{
    for (uint32_t k = 0; k < b->o->narray; k++)
        if (fit_bound_solves(b, k)) {
            const size_t n = b->size[b->o->array[k].axis];
            memcpy(b->array[k], x, n * sizeof *x);
            x += n;
        }
}

static void collect(const struct fit_bound *b, double *gradient)
{
    for (uint32_t k = 0; k < b->o->narray; k++)
        if (fit_bound_solves(b, k)) {
            const size_t n = b->size[b->o->array[k].axis];
            memcpy(gradient, b->slope[k], n * sizeof *gradient);
            gradient += n;
        }
}

struct fit_functional_call fit_call(const struct fit_bound *b)
{
    return (struct fit_functional_call){.array = b->array,
                                        .slope = b->slope,
                                        .dot = b->dot,
                                        .slope_dot = b->slope_dot,
                                        .number = b->number,
                                        .number_dot = b->number_dot,
                                        .number_slope = b->number_slope,
                                        .number_slope_dot = b->number_slope_dot,
                                        .partial = b->partial,
                                        .size = b->size,
                                        .weight = b->weight,
                                        .term = b->term,
                                        .operation = b->operation,
                                        .on = b->on};
}

void fit_bound_settle(struct fit_bound *b)
{
    struct fit_functional_call call = fit_call(b);
    if (!b->stale)
        return;
    memcpy(b->number, b->number_given, b->o->nnumber * sizeof *b->number);
    forward(b, &call);
    if (b->stale > 1)
        backward(b, &call);
    b->stale = 0;
}

double fit_bound_value(struct fit_bound *b, const double *x, double *gradient)
{
    const struct fit_functional *o = b->o;
    double value = 0;
    scatter(b, x);
    memcpy(b->number, b->number_given, o->nnumber * sizeof *b->number);
    b->stale = gradient ? 2 : 1;
    if (!fit_objective_take(b, gradient != NULL))
        fit_bound_settle(b);
    for (uint32_t t = 0; t < o->nterm; t++)
        if (b->on >> t & 1)
            value += b->weight[t] * (b->term[t] + o->term[t].offset);
    if (gradient)
        collect(b, gradient);
    return value;
}
