/* bind.c -- binds an objective to its storage, its data and the numbers of its operators. */
#include "functional/functional.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "common/nearest.h"
#include "common/range.h"
#include "fit/operator_data.h"
#include "functional/on_device.h"
#include "machine/cpu.h"
#include "machine/team.h"

static size_t rounded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Records an input that terms need and that is missing. */
static void lack(struct fit_bound *b, uint64_t need, const char *what)
{
    for (uint32_t t = 0; t < b->o->nterm; t++)
        if (need >> t & 1 && !b->lack[t])
            b->lack[t] = what;
    b->missing |= need;
}

static enum fit_status bad_size(struct fit_error *err, const char *name, size_t n, const char *axis, size_t want)
{
    return fit_fail(err, FIT_ERR_DATA, "'%s' has %zu elements, its axis '%s' %zu", name, n, axis, want);
}

/* --- axes and arrays ------------------------------------------------------------------------------------ */

static void bind_axes(struct fit_bound *b, const struct fit_inputs *in)
{
    const struct fit_functional *o = b->o;
    for (uint32_t k = 0; k < o->naxis; k++) {
        const struct fit_input *x = fit_inputs_find(in, o->axis[k].name, FIT_INPUT_AXIS);
        b->size[k] = x ? x->n : 0;
        b->nx[k] = x && o->axis[k].row ? x->nx : b->size[k];
        b->ny[k] = x && o->axis[k].row ? x->ny : 1;
        b->number_given[o->axis[k].size] = (double)b->size[k];
    }
}

static enum fit_status bind_array(struct fit_bound *b, const struct fit_inputs *in, uint32_t k, struct fit_error *err)
{
    const struct fit_array_desc *a = &b->o->array[k];
    const size_t n = b->size[a->axis], room = rounded(n, FIT_BLOCK);
    const struct fit_input *x = fit_inputs_find(in, a->name, FIT_INPUT_ARRAY);
    if (a->kind == FIT_ARRAY_DATA && !x) {
        lack(b, a->need, a->name);
        return FIT_OK;
    }
    if (x && a->kind == FIT_ARRAY_DATA && x->n != n)
        return bad_size(err, a->name, x->n, b->o->axis[a->axis].name, n);
    b->array[k] = fit_take(&b->arena, room + 8, sizeof(double));
    if (a->moves)
        b->slope[k] = fit_take(&b->arena, room + 8, sizeof(double));
    if (x && a->kind == FIT_ARRAY_DATA && b->array[k])
        memcpy(b->array[k], x->array, n * sizeof(double));
    return FIT_OK;
}

/* --- operators ------------------------------------------------------------------------------------------ */

/* Do mirrored columns (rows) have exactly conjugate factors, all of them? */
static int is_mirrored(size_t n, size_t width, const double *re, const double *im)
{
    for (size_t v = 0; v < n; v++)
        for (size_t c = 0; c < (width + 1) / 2; c++) {
            const size_t i = v * width + c, j = v * width + width - 1 - c;
            if (re[i] != re[j] || im[i] != -im[j])
                return 0;
        }
    return 1;
}

static double *factors(struct fit_bound *b, size_t n, size_t width, const double *from, size_t used, size_t pitch)
{
    double *to = fit_take(&b->arena, rounded(n, 4) * pitch + 8, sizeof *to);
    for (size_t v = 0; to && v < n; v++)
        memcpy(to + v * pitch, from + v * width, used * sizeof *to);
    return to;
}

/* An earlier operator with the same factors. */
static const struct fit_outer *same_factors(const struct fit_bound *b, const struct fit_operator_desc *q)
{
    for (const struct fit_operator_desc *p = b->o->operation; p < q; p++)
        if (p->kind == FIT_OUTER && strcmp(p->data, q->data) == 0)
            return b->operation[p - b->o->operation];
    return NULL;
}

static enum fit_status bind_outer(struct fit_bound *b, const struct fit_operator_desc *q, const struct fit_input *x,
                                  void **operation, struct fit_error *err)
{
    struct fit_outer *f = fit_take(&b->arena, 1, sizeof *f);
    if (!f)
        return FIT_OK;
    if (x->n != b->size[q->to] || x->nx != b->nx[q->from] || x->ny != b->ny[q->from])
        return fit_fail(err, FIT_ERR_DATA, "the factors '%s' are %zu times (%zu, %zu), their axes %zu times (%zu, %zu)",
                        q->data, x->n, x->ny, x->nx, b->size[q->to], b->ny[q->from], b->nx[q->from]);
    *f = (struct fit_outer){.n = x->n, .nx = x->nx, .ny = x->ny, .nrow = x->ny, .ncolumn = x->nx};
    f->folded = is_mirrored(x->n, x->nx, x->column_re, x->column_im) && is_mirrored(x->n, x->ny, x->row_re, x->row_im);
    if (f->folded) {
        f->nrow = (x->ny + 1) / 2;
        f->ncolumn = (x->nx + 1) / 2;
    }
    f->pitch = rounded(f->ncolumn, 8);
    f->pitch += f->pitch % 64 == 0 ? 8 : 0; /* rows whose distance is a power of two would share few cache lines */
    f->plane_size = f->nrow * f->pitch;
    const struct fit_outer *same = same_factors(b, q);
    f->row_re = same ? same->row_re : factors(b, x->n, x->ny, x->row_re, f->nrow, f->nrow);
    f->row_im = same ? same->row_im : factors(b, x->n, x->ny, x->row_im, f->nrow, f->nrow);
    f->column_re = same ? same->column_re : factors(b, x->n, x->nx, x->column_re, f->ncolumn, f->pitch);
    f->column_im = same ? same->column_im : factors(b, x->n, x->nx, x->column_im, f->ncolumn, f->pitch);
    f->plane = fit_take(&b->arena, 4 * f->plane_size, sizeof(double));
    f->back = fit_take(&b->arena, 4 * rounded(f->nrow, FIT_UNIT_OF_ROWS) * f->pitch, sizeof(double));
    *operation = f;
    return FIT_OK;
}

static enum fit_status bind_gather(struct fit_bound *b, const struct fit_operator_desc *q, const struct fit_input *x,
                                   void **operation, struct fit_error *err)
{
    struct fit_gather *g = fit_take(&b->arena, 1, sizeof *g);
    const size_t n = b->size[q->to], nfrom = b->size[q->from];
    if (x->n != n)
        return bad_size(err, q->data, x->n, b->o->axis[q->to].name, n);
    if (!g)
        return FIT_OK;
    *g = (struct fit_gather){n, nfrom, fit_take(&b->arena, n, sizeof *g->place),
                             fit_take(&b->arena, nfrom + 2, sizeof *g->begin), fit_take(&b->arena, n, sizeof *g->user)};
    if (b->arena.failed)
        return FIT_OK;
    for (size_t k = 0; k < n; k++) {
        g->place[k] = x->place[k * (x->stride ? x->stride : 1)];
        const size_t at = (size_t)llabs(g->place[k]);
        if (at < 1 || at > nfrom)
            return fit_fail(err, FIT_ERR_DATA, "'%s', element %zu: place %lld is not among the %zu of '%s'", q->data, k,
                            (long long)g->place[k], nfrom, b->o->axis[q->from].name);
        g->begin[at + 1]++;
    }
    for (size_t k = 1; k < nfrom + 2; k++)
        g->begin[k] += g->begin[k - 1];
    for (size_t k = 0; k < n; k++) /* begin[at] is where the next user of element at - 1 stands; at the end its end */
        g->user[g->begin[(size_t)llabs(g->place[k])]++] = k;
    *operation = g;
    return FIT_OK;
}

static void bind_difference(struct fit_bound *b, const struct fit_operator_desc *q, void **operation)
{
    struct fit_difference *d = fit_take(&b->arena, 1, sizeof *d);
    if (d)
        *d = (struct fit_difference){b->size[q->from], b->nx[q->from],
                                      strcmp(q->data, "row") == 0 ? b->nx[q->from] : 1};
    *operation = d;
}

static enum fit_status bind_blocks(struct fit_bound *b, const struct fit_operator_desc *q, const struct fit_input *x,
                                   void **operation, struct fit_error *err)
{
    struct fit_blocks *f = fit_take(&b->arena, 1, sizeof *f);
    size_t numbers = 0, n = 0;
    for (size_t k = 0; k < x->nblock; k++) {
        numbers += x->block[k] * x->block[k];
        n += x->block[k];
    }
    if (n != b->size[q->from])
        return bad_size(err, q->data, n, b->o->axis[q->from].name, b->size[q->from]);
    if (!f)
        return FIT_OK;
    f->n = x->nblock;
    f->begin = fit_take(&b->arena, f->n + 1, sizeof *f->begin);
    f->offset = fit_take(&b->arena, f->n + 1, sizeof *f->offset);
    f->matrix = fit_take_copy(&b->arena, x->array, numbers, sizeof *f->matrix);
    for (size_t k = 0; !b->arena.failed && k < f->n; k++) {
        f->begin[k + 1] = f->begin[k] + x->block[k];
        f->offset[k + 1] = f->offset[k] + x->block[k] * x->block[k];
    }
    *operation = f;
    return FIT_OK;
}

static enum fit_status bind_dense(struct fit_bound *b, const struct fit_operator_desc *q, const struct fit_input *x,
                                  void **operation, struct fit_error *err)
{
    struct fit_dense *f = fit_take(&b->arena, 1, sizeof *f);
    if (x->n != b->size[q->to] || x->nx != b->size[q->from])
        return fit_fail(err, FIT_ERR_DATA, "the matrix '%s' is %zu x %zu, not %zu x %zu", q->data, x->n, x->nx,
                        b->size[q->to], b->size[q->from]);
    if (!f)
        return FIT_OK;
    *f = (struct fit_dense){x->n, x->nx, rounded(x->nx, 8), NULL};
    f->matrix = fit_take(&b->arena, f->n * f->pitch + 8, sizeof *f->matrix);
    for (size_t k = 0; f->matrix && k < f->n; k++)
        memcpy(f->matrix + k * f->pitch, x->array + k * x->nx, x->nx * sizeof *f->matrix);
    *operation = f;
    return FIT_OK;
}

static enum fit_status bind_operation(struct fit_bound *b, const struct fit_inputs *in, uint32_t k,
                                      struct fit_error *err)
{
    static const enum fit_input_kind kind[] = {[FIT_OUTER] = FIT_INPUT_OUTER,
                                               [FIT_GATHER] = FIT_INPUT_PLACES,
                                               [FIT_BLOCKS] = FIT_INPUT_BLOCKS,
                                               [FIT_DENSE] = FIT_INPUT_MATRIX};
    const struct fit_operator_desc *q = &b->o->operation[k];
    if (q->kind == FIT_DIFFERENCE) {
        bind_difference(b, q, &b->operation[k]);
        return FIT_OK;
    }
    const struct fit_input *x = fit_inputs_find(in, q->data, kind[q->kind]);
    if (!x) {
        lack(b, q->need, q->data);
        return FIT_OK;
    }
    switch (q->kind) {
    case FIT_OUTER: return bind_outer(b, q, x, &b->operation[k], err);
    case FIT_GATHER: return bind_gather(b, q, x, &b->operation[k], err);
    case FIT_BLOCKS: return bind_blocks(b, q, x, &b->operation[k], err);
    default: return bind_dense(b, q, x, &b->operation[k], err);
    }
}

/* --- kernels -------------------------------------------------------------------------------------------- */

/* Matches "x86-64-v3" by that name, or "v3". */
static int is_called(const char *isa, const char *wanted)
{
    const size_t n = strlen(isa), m = strlen(wanted);
    return n >= m && strcmp(isa + n - m, wanted) == 0 && (n == m || isa[n - m - 1] == '-');
}

const struct fit_functional *fit_functional_pick(const struct fit_functional *const *kernels, const char *isa)
{
    for (size_t k = 0; kernels[k]; k++)
        if (fit_cpu_supports(kernels[k]->isa) && (!isa || !*isa || is_called(kernels[k]->isa, isa)))
            return kernels[k];
    return NULL;
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static void take_tables(struct fit_bound *b)
{
    const struct fit_functional *o = b->o;
    struct fit_arena *a = &b->arena;
    b->size = fit_take(a, o->naxis, sizeof *b->size);
    b->nx = fit_take(a, o->naxis, sizeof *b->nx);
    b->ny = fit_take(a, o->naxis, sizeof *b->ny);
    b->array = fit_take(a, o->narray, sizeof *b->array);
    b->slope = fit_take(a, o->narray, sizeof *b->slope);
    b->held = fit_take(a, o->narray, sizeof *b->held);
    b->operation = fit_take(a, o->noperator + 1, sizeof *b->operation);
    b->lack = fit_take(a, o->nterm, sizeof *b->lack);
    FIT_TAKE_DOUBLES(a, o->nnumber, &b->number, &b->number_slope, &b->number_given);
    FIT_TAKE_DOUBLES(a, o->nterm, &b->weight, &b->term);
}

enum fit_status fit_number_admits(const struct fit_number_desc *d, const char *text, double x, struct fit_error *err)
{
    char range[RANGE_TEXT], number[32];
    if (range_holds(d->lower, d->upper, x))
        return FIT_OK;
    range_text(d->lower, d->upper, d->unit, range);
    snprintf(number, sizeof number, "%g", x);
    return fit_fail(err, FIT_ERR_CONFIG, "%s: %.60s is not %s", d->name, text ? text : number,
                    *range ? range : "finite");
}

enum fit_status fit_number_read(const struct fit_number_desc *d, const char *text, double *value,
                                struct fit_error *err)
{
    const enum fit_quantity kind = fit_quantity_parse(text, d->unit, value);
    if (kind == FIT_QUANTITY_BARE || kind == FIT_QUANTITY_CONVERTED)
        return fit_number_admits(d, text, *value, err);
    return fit_fail(err, FIT_ERR_CONFIG, "%s: '%s' %s%s%s", d->name, text,
                    kind == FIT_QUANTITY_NO_NUMBER ? "is no number" : fit_quantity_why(kind),
                    d->unit ? "; declared is " : "", d->unit ? d->unit : "");
}

void fit_number_print(FILE *f, const struct fit_number_desc *d)
{
    char range[RANGE_TEXT], start[32] = "-";
    range_text(d->lower, d->upper, NULL, range);
    if (!isnan(d->start))
        snprintf(start, sizeof start, "%g", d->start);
    fprintf(f, "  %-14s %-12s %-8s %s%s%s\n", d->name, start, d->unit ? d->unit : "", d->doc ? d->doc : "",
            d->doc && *range ? "; " : "", range);
}

/* Hyper-parameters: the defaults, or the inputs; weights. */
static enum fit_status set_numbers(struct fit_bound *b, const struct fit_inputs *in, struct fit_error *err)
{
    const struct fit_functional *o = b->o;
    enum fit_status s = FIT_OK;
    for (uint32_t k = 0; s == FIT_OK && k < o->nnumber; k++)
        if (o->number[k].kind == FIT_NUMBER_HYPER) {
            const struct fit_input *x = fit_inputs_find(in, o->number[k].name, FIT_INPUT_NUMBER);
            b->number_given[k] = x ? x->value : o->number[k].start;
            s = x ? fit_number_admits(&o->number[k], NULL, x->value, err) : FIT_OK;
        }
    for (uint32_t t = 0; t < o->nterm; t++)
        b->weight[t] = o->term[t].weight;
    return s;
}

static enum fit_status bind(struct fit_bound *b, const struct fit_inputs *in, struct fit_error *err)
{
    const struct fit_functional *o = b->o;
    size_t blocks = 1, sums = 1;
    bind_axes(b, in);
    enum fit_status s = set_numbers(b, in, err);
    for (uint32_t k = 0; s == FIT_OK && k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_FREE && b->size[o->array[k].axis] == 0)
            return fit_fail(err, FIT_ERR_DATA, "the axis '%s' of what is solved for has no size",
                            o->axis[o->array[k].axis].name);
    for (uint32_t k = 0; s == FIT_OK && k < o->narray; k++)
        s = bind_array(b, in, k, err);
    for (uint32_t k = 0; s == FIT_OK && k < o->noperator; k++)
        s = bind_operation(b, in, k, err);
    for (uint32_t k = 0; k < o->naxis; k++)
        blocks = b->size[k] / FIT_BLOCK + 1 > blocks ? b->size[k] / FIT_BLOCK + 1 : blocks;
    for (uint32_t k = 0; k < o->nbackward; k++)
        sums = o->backward[k].nsum > sums ? o->backward[k].nsum : sums;
    b->partial = fit_take(&b->arena, blocks * sums, sizeof *b->partial);
    for (uint32_t t = 0; t < o->nterm; t++)
        b->on |= o->term[t].weight != 0 && !(b->missing >> t & 1) ? UINT64_C(1) << t : 0;
    return s;
}

enum fit_status fit_bound_new(const struct fit_functional *o, const struct fit_inputs *in, struct fit_bound **out,
                              struct fit_error *err)
{
    struct fit_bound *b = calloc(1, sizeof *b);
    enum fit_status s = FIT_ERR_MEMORY;
    *out = NULL;
    if (!b)
        return fit_no_memory(err, o->name);
    b->o = o;
    b->threads = FIT_TEAM_ALL;
    take_tables(b);
    if (!b->arena.failed)
        s = bind(b, in, err);
    if (b->arena.failed)
        s = fit_no_memory(err, o->name);
    if (s != FIT_OK) {
        fit_bound_free(b);
        return s;
    }
    *out = b;
    return FIT_OK;
}

void fit_bound_free(struct fit_bound *b)
{
    if (b) {
        fit_objective_leave(b);
        fit_arena_free(&b->arena);
    }
    free(b);
}

/* --- choices of the user ----------------------------------------------------------------------------- */

int fit_bound_term(const struct fit_bound *b, const char *name)
{
    for (uint32_t t = 0; t < b->o->nterm; t++)
        if (strcmp(b->o->term[t].name, name) == 0)
            return (int)t;
    return -1;
}

static enum fit_status no_term(const struct fit_functional *o, const char *name, struct fit_error *err)
{
    struct nearest near = {.name = name};
    for (uint32_t t = 0; t < o->nterm; t++)
        nearest_offer(&near, o->term[t].name);
    return fit_fail(err, FIT_ERR_CONFIG, "%s has no term '%s'%s%s%s", o->name, name,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

enum fit_status fit_bound_weight(struct fit_bound *b, const char *term, double weight, struct fit_error *err)
{
    const int t = fit_bound_term(b, term);
    if (t < 0)
        return no_term(b->o, term, err);
    if (!isfinite(weight))
        return fit_fail(err, FIT_ERR_CONFIG, "the weight of '%s' is not finite", term);
    if (b->missing >> t & 1)
        return fit_fail(err, FIT_ERR_CONFIG, "the term '%s' cannot be used: the data have no '%s'", term, b->lack[t]);
    b->weight[t] = weight;
    b->on |= UINT64_C(1) << t;
    return FIT_OK;
}

/* The number of that name, or NULL, with an error. */
static const struct fit_number_desc *find_hyper(const struct fit_functional *o, const char *name, struct fit_error *err)
{
    struct nearest near = {.name = name};
    for (uint32_t k = 0; k < o->nnumber; k++) {
        if (o->number[k].kind != FIT_NUMBER_HYPER)
            continue;
        if (strcmp(o->number[k].name, name) == 0)
            return &o->number[k];
        nearest_offer(&near, o->number[k].name);
    }
    fit_fail(err, FIT_ERR_CONFIG, "%s has no hyper-parameter '%s'%s%s%s", o->name, name,
             near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
    return NULL;
}

enum fit_status fit_bound_hyper(struct fit_bound *b, const char *name, double value, struct fit_error *err)
{
    const struct fit_number_desc *d = find_hyper(b->o, name, err);
    const enum fit_status s = !d ? FIT_ERR_CONFIG : isnan(value) ? FIT_OK : fit_number_admits(d, NULL, value, err);
    if (s == FIT_OK)
        b->number_given[d - b->o->number] = value;
    return s;
}

enum fit_status fit_bound_quantity(struct fit_bound *b, const char *name, const char *text, struct fit_error *err)
{
    double value;
    const struct fit_number_desc *d = find_hyper(b->o, name, err);
    const enum fit_status s = d ? fit_number_read(d, text, &value, err) : FIT_ERR_CONFIG;
    if (s == FIT_OK)
        b->number_given[d - b->o->number] = value;
    return s;
}

enum fit_status fit_bound_hold(struct fit_bound *b, const char *name, const double *values, struct fit_error *err)
{
    for (uint32_t k = 0; k < b->o->narray; k++) {
        const struct fit_array_desc *a = &b->o->array[k];
        if (a->kind != FIT_ARRAY_FREE || strcmp(a->name, name) != 0)
            continue;
        b->held[k] = values != NULL;
        if (values)
            memcpy(b->array[k], values, b->size[a->axis] * sizeof *values);
        return FIT_OK;
    }
    return fit_fail(err, FIT_ERR_CONFIG, "%s has no free array '%s'", b->o->name, name);
}

int fit_bound_solves(const struct fit_bound *b, uint32_t k)
{
    const struct fit_array_desc *a = &b->o->array[k];
    return a->kind == FIT_ARRAY_FREE && !b->held[k] && (a->need & b->on);
}

size_t fit_bound_unknowns(const struct fit_bound *b)
{
    size_t n = 0;
    for (uint32_t k = 0; k < b->o->narray; k++)
        n += fit_bound_solves(b, k) ? b->size[b->o->array[k].axis] : 0;
    return n;
}

size_t fit_bound_place(const struct fit_bound *b, const char *name)
{
    size_t at = 0;
    for (uint32_t k = 0; k < b->o->narray; k++) {
        if (!fit_bound_solves(b, k))
            continue;
        if (strcmp(b->o->array[k].name, name) == 0)
            return at;
        at += b->size[b->o->array[k].axis];
    }
    return FIT_BOUND_NOWHERE;
}

enum fit_status fit_bound_ready(const struct fit_bound *b, struct fit_error *err)
{
    if (!b->on)
        return fit_fail(err, FIT_ERR_CONFIG, "no term of %s has a weight", b->o->name);
    for (uint32_t k = 0; k < b->o->nnumber; k++)
        if (b->o->number[k].kind == FIT_NUMBER_HYPER && (b->o->number[k].need & b->on) && isnan(b->number_given[k]))
            return fit_fail(err, FIT_ERR_CONFIG, "the hyper-parameter '%s' has no value", b->o->number[k].name);
    return FIT_OK;
}
