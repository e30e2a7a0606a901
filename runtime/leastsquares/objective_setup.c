/* objective_setup.c -- makes an objective: numbers the linear unknowns, sets their bounds, finds the blocks into
 * which their quadratic program decomposes.
 *
 * Takes a kernel, a data set and the choice of free parameters; gives a struct fit_objective that objective.c
 * evaluates. The three numberings of linear parameters are those of objective.h. */
#include "leastsquares/objective_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/tile_sums.h"
#include "device/predict.h"
#include "ranks/ranks.h"
#include "math/linalg.h"

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- numbering and bounds -------------------------------------------------------------------- */

static double given(const double *array, size_t k, double otherwise)
{
    return array && !isnan(array[k]) ? array[k] : otherwise;
}

static int is_fixed(const struct fit_objective_setup *s, size_t q)
{
    return s->scaling == FIT_SCALING_CONSTANT || (s->linear_fixed && s->linear_fixed[q]);
}

/* The first group with the same value of linear parameter q as group g. */
static size_t first_like(const struct fit_objective *o, const struct fit_objective_setup *s, size_t g, size_t q)
{
    size_t first = 0, n = o->nlinear;
    if (o->kernel->linear[q].over < 0 || s->scaling == FIT_SCALING_AVERAGED)
        return 0;
    if (!s->linear_class)
        return g;
    while (first < g && s->linear_class[first * n + q] != s->linear_class[g * n + q])
        first++;
    return first;
}

/* Numbers the unknowns: fills map, origin and nu.  A shared parameter gets one unknown. */
static void number_unknowns(struct fit_objective *o, const struct fit_objective_setup *s)
{
    o->nu = 0;
    for (size_t g = 0; g < o->ngroup; g++) {
        for (size_t q = 0; q < o->nlinear; q++) {
            int *m = &o->map[g * o->nlinear + q];
            size_t first = first_like(o, s, g, q);
            if (is_fixed(s, q))
                *m = -1;
            else if (first < g)
                *m = o->map[first * o->nlinear + q];
            else
                *m = (int)o->nu++;
        }
    }
}

static enum fit_status set_bounds(struct fit_objective *o, const struct fit_objective_setup *s,
                                  struct fit_error *err)
{
    const struct fit_kernel *k = o->kernel;
    for (size_t u = 0; u < o->nu; u++) {
        double sum = 0;
        size_t n = 0, q = 0, first = 0;
        for (size_t e = o->ngroup * o->nlinear; e-- > 0;) {
            if (o->map[e] != (int)u)
                continue;
            first = e;
            q = e % o->nlinear;
            sum += (int)q == k->intercept ? o->ds->reference[e / o->nlinear] : 0;
            n++;
        }
        double lo = given(s->linear_lower, q, k->linear[q].lower);
        double hi = given(s->linear_upper, q, k->linear[q].upper);
        double ref = given(s->linear_start, first, k->linear[q].start);
        if (isnan(lo))
            lo = -INFINITY;
        if (isnan(hi))
            hi = INFINITY;
        if (!(lo <= hi))
            return fit_fail(err, FIT_ERR_CONFIG, "%s: lower bound %g lies above the upper bound %g",
                            k->linear[q].name, lo, hi);
        o->origin[u] = n ? sum / (double)n : 0;
        o->lower[u] = lo - o->origin[u];
        o->upper[u] = hi - o->origin[u];
        ref = isfinite(ref) ? ref - o->origin[u] : 0;
        o->ref[u] = fmin(fmax(ref, o->lower[u]), o->upper[u]);
        if (!isfinite(o->ref[u]))
            o->ref[u] = 0;
    }
    return FIT_OK;
}

static enum fit_status set_shifts(struct fit_objective *o, const struct fit_objective_setup *s,
                                  struct fit_error *err)
{
    const struct fit_kernel *k = o->kernel;
    for (size_t e = 0; e < o->ngroup * o->nlinear; e++) {
        size_t g = e / o->nlinear, q = e % o->nlinear;
        double reference = (int)q == k->intercept ? o->ds->reference[g] : 0;
        if (o->map[e] >= 0) {
            o->shift[e] = o->origin[o->map[e]] - reference;
            continue;
        }
        double v = given(s->linear_start, e, k->linear[q].start);
        if (!isfinite(v))
            return fit_fail(err, FIT_ERR_CONFIG,
                            "%s is held fixed, but no value is given for it (group %zu)",
                            k->linear[q].name, g + 1);
        o->shift[e] = v - reference;
    }
    return FIT_OK;
}

/* Unknown -> representative of its block. */
static void join_unknowns(struct fit_objective *o)
{
    for (size_t u = 0; u < o->nu; u++)
        o->block_of[u] = u;
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t g = 0; g < o->ngroup; g++) {
            size_t least = SIZE_MAX;
            for (size_t q = 0; q < o->nlinear; q++) {
                int m = o->map[g * o->nlinear + q];
                if (m >= 0 && o->block_of[m] < least)
                    least = o->block_of[m];
            }
            for (size_t q = 0; q < o->nlinear; q++) {
                int m = o->map[g * o->nlinear + q];
                if (m >= 0 && o->block_of[m] != least) {
                    o->block_of[m] = least;
                    changed = 1;
                }
            }
        }
        for (size_t e = 0; e < o->ngroup * o->nlinear; e++) { /* shrinkage connects the groups */
            int m = o->map[e], first = o->map[e % o->nlinear];
            if (!(o->shrink[e % o->nlinear] > 0) || m < 0 || o->block_of[m] == o->block_of[first])
                continue;
            size_t least = min_size(o->block_of[m], o->block_of[first]);
            o->block_of[m] = o->block_of[first] = least;
            changed = 1;
        }
    }
}

/* Blocks: unknowns connected through groups.  Unknown -> representative by repeated relabelling;
 * the numbers are small (groups x nlinear). */
static void find_blocks(struct fit_objective *o)
{
    join_unknowns(o);
    size_t n = 0, offset = 0;
    o->nblock = 0;
    for (size_t r = 0; r < o->nu; r++) {
        size_t first = n;
        for (size_t u = 0; u < o->nu; u++)
            if (o->block_of[u] == r)
                o->order[n++] = u;
        if (n == first)
            continue;
        o->block_first[o->nblock] = first;
        o->block_matrix[o->nblock++] = offset;
        offset += (n - first) * (n - first);
    }
    o->block_first[o->nblock] = n;
    for (size_t k = 0; k < o->nblock; k++)
        for (size_t i = o->block_first[k]; i < o->block_first[k + 1]; i++) {
            o->place[o->order[i]] = i - o->block_first[k];
            o->block_of[o->order[i]] = k;
        }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Arrays whose size does not depend on the blocks. */
static void allocate_basic(struct fit_objective *o)
{
    struct fit_arena *a = &o->storage_;
    const size_t e = o->ngroup * o->nlinear + 1, seeds = 1 + o->nlinear * (o->nlinear + 1) / 2;
    o->map = fit_take(a, e, sizeof *o->map);
    o->order = fit_take(a, e, sizeof *o->order);
    o->place = fit_take(a, e, sizeof *o->place);
    o->block_of = fit_take(a, e, sizeof *o->block_of);
    o->block_first = fit_take(a, e + 1, sizeof *o->block_first);
    o->block_matrix = fit_take(a, e, sizeof *o->block_matrix);
    o->state = fit_take(a, e, sizeof *o->state);
    FIT_TAKE_DOUBLES(a, e, &o->shift, &o->origin, &o->lower, &o->upper, &o->ref, &o->u, &o->du, &o->b, &o->lin,
                     &o->lin_loss);
    FIT_TAKE_DOUBLES(a, o->ngroup, &o->ssr, &o->factor);
    FIT_TAKE_DOUBLES(a, o->ngroup * seeds, &o->residual_seeds);
    FIT_TAKE_DOUBLES(a, o->nlinear, &o->shrink);
    FIT_TAKE_DOUBLES(a, e * o->nparam, &o->cross);
    FIT_TAKE_DOUBLES(a, o->nparam * o->nparam, &o->hessian);
    FIT_TAKE_DOUBLES(a, o->nparam, &o->at, &o->summed_at);
    FIT_TAKE_DOUBLES(a, o->kernel->workspace(&o->ds->layout), &o->ws);
    for (size_t g = 0; g < o->ngroup && !a->failed; g++) {
        memset(o->residual_seeds + g * seeds, 0, seeds * sizeof *o->residual_seeds);
        o->residual_seeds[g * seeds] = 1;
    }
}

static enum fit_status allocate_blocks(struct fit_objective *o, int threads, const atomic_int *interrupt,
                                       struct fit_error *err)
{
    size_t all = 0, largest = 0;
    for (size_t k = 0; k < o->nblock; k++) {
        all += fit_objective_block(o, k) * fit_objective_block(o, k);
        largest = max_size(largest, fit_objective_block(o, k));
    }
    size_t first[2], pass = max_size(fit_objective_newton_size(o, first), FIT_OBJECTIVE_BINS);
    FIT_TAKE_DOUBLES(&o->storage_, all, &o->A);
    FIT_TAKE_DOUBLES(&o->storage_, o->ngroup * fit_objective_moments(o->nlinear), &o->moment);
    FIT_TAKE_DOUBLES(&o->storage_, pass, &o->sum);
    FIT_TAKE_DOUBLES(&o->storage_, max_size(fit_boxqp_work(largest) + largest * (largest + o->nparam + 10) + 16, o->nu),
                     &o->work);
    if (o->storage_.failed)
        return fit_no_memory(err, "fit");
    size_t extra = max_size(o->kernel->scratch(&o->ds->layout), 3 * FIT_LANES * o->ngroup);
    struct fit_parallel_need need = {pass, FIT_OBJECTIVE_SCRATCH, extra, threads, interrupt};
    return fit_parallel_new(o->ds, &need, &o->par, err);
}

static void constant_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    const struct fit_objective *o = user;
    (void)scratch, (void)stride;
    out[0] = o->kernel->density->constant(&o->ds->layout, t);
}

static double spread_of_values(const struct fit_objective *o)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t n = 0; n < o->ds->ntile; n++) {
        const struct fit_tile *t = &o->ds->tile[n];
        for (size_t k = 0; k < t->i1 - t->i0; k++)
            if (!t->w || t->w[k] > 0) {
                least = fmin(least, t->y[k]);
                most = fmax(most, t->y[k]);
            }
    }
    return most > least ? most - least : 1;
}

/* Terms of a density without parameters, once for a data set. Probabilities of counts are at most 1; a density of
 * values reaches a million over their spread only where it follows them to six digits: with such an offset for each
 * value costs are positive, as sums of squares are. */
static enum fit_status begin_density(struct fit_objective *o, struct fit_error *err)
{
    const double MOST = 1e6;
    if (!o->kernel->density)
        return FIT_OK;
    struct fit_parallel_task task = {constant_tile, o, 1, 0};
    if (fit_parallel_sum(o->par, &task, &o->density_constant))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    if (!isfinite(o->density_constant))
        return fit_fail(err, FIT_ERR_DATA, "%s: the noise distribution %s has no density at a measured value",
                        o->kernel->name, o->kernel->density->name);
    int counts = o->kernel->density->support >= FIT_SUPPORT_COUNTS;
    o->offset = counts ? 0 : (double)o->npoint * log(MOST / spread_of_values(o));
    return FIT_OK;
}

/* The sums of squares of the values and of their references: the scale of rounding errors of the cost. */
static void add_squares(struct fit_objective *o)
{
    for (size_t t = 0; t < o->ds->ntile; t++)
        for (size_t g = 0; g < o->ngroup; g++) {
            const double *sum = &o->ds->tile[t].sum[3 * g], reference = o->ds->reference[g];
            o->data_square += sum[2];
            o->reference_square += sum[0] * reference * reference;
        }
}

int fit_objective_on_device(const struct fit_kernel *kernel, const struct fit_dataset *ds, int threads)
{
    struct fit_device *d = fit_device_used();
    if (!d)
        return 0;
    const char *why = fit_device_lacks(kernel, ds);
    const struct fit_device_work work = fit_device_work_of(kernel, (double)ds->npoint, (double)ds->layout.ngroup,
                                                           8.0 * (double)kernel->workspace(&ds->layout));
    if (!why && fit_device_is_automatic(d) &&
        fit_device_seconds(fit_device_about(d), &work) > fit_processor_seconds(&work, threads))
        why = "the processor is predicted to be faster for these data";
    if (why)
        fit_device_say(d, why);
    return fit_ranks_shared() ? fit_ranks_least(!why) > 0 : !why;
}

/* The current device, if it supports the kernel; without it the processor is used. Ranks that share the sums have
 * one each, or none. */
static void begin_device(struct fit_objective *o)
{
    struct fit_error err = {0};
    if (!fit_objective_on_device(o->kernel, o->ds, fit_parallel_threads(o->par)))
        return;
    if (fit_device_sums_new(fit_device_used(), o->kernel, o->ds, &o->device, &err) != FIT_OK)
        fit_device_say(fit_device_used(), err.message);
    if (fit_ranks_shared() && fit_ranks_least(o->device != NULL) < 1) {
        fit_device_sums_free(o->device);
        o->device = NULL;
    }
}

enum fit_status fit_objective_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                  const struct fit_objective_setup *setup,
                                  struct fit_objective **obj, struct fit_error *err)
{
    enum fit_status st;
    struct fit_objective *o = calloc(1, sizeof *o);
    *obj = NULL;
    if (!o)
        return fit_no_memory(err, "fit");
    o->kernel = kernel;
    o->ds = ds;
    o->nparam = kernel->nparam;
    o->nlinear = kernel->nlinear;
    o->ngroup = ds->layout.ngroup;
    o->npoint = ds->npoint;
    allocate_basic(o);
    if (o->storage_.failed) {
        st = fit_no_memory(err, "fit");
        goto done;
    }
    number_unknowns(o, setup);
    for (size_t q = 0; setup->shrink && q < o->nlinear; q++)
        o->shrink[q] = setup->shrink[q];
    if ((st = set_bounds(o, setup, err)) != FIT_OK || (st = set_shifts(o, setup, err)) != FIT_OK)
        goto done;
    find_blocks(o);
    if ((st = allocate_blocks(o, setup->threads, setup->interrupt, err)) != FIT_OK ||
        (st = begin_density(o, err)) != FIT_OK)
        goto done;
    add_squares(o);
    begin_device(o);
    *obj = o;
done:
    if (st != FIT_OK)
        fit_objective_free(o);
    return st;
}

static void copy_doubles(double *to, const double *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

/* Copies the results of number_unknowns(), set_bounds(), set_shifts(), find_blocks() and the functions for weights. */
static void copy_basic(struct fit_objective *o, const struct fit_objective *from)
{
    const size_t e = o->ngroup * o->nlinear;
    memcpy(o->map, from->map, e * sizeof *o->map);
    memcpy(o->order, from->order, e * sizeof *o->order);
    memcpy(o->place, from->place, e * sizeof *o->place);
    memcpy(o->block_of, from->block_of, e * sizeof *o->block_of);
    memcpy(o->block_first, from->block_first, (e + 1) * sizeof *o->block_first);
    memcpy(o->block_matrix, from->block_matrix, e * sizeof *o->block_matrix);
    copy_doubles(o->shift, from->shift, e);
    copy_doubles(o->origin, from->origin, e);
    copy_doubles(o->lower, from->lower, e);
    copy_doubles(o->upper, from->upper, e);
    copy_doubles(o->ref, from->ref, e);
    copy_doubles(o->lin_loss, from->lin_loss, e);
    copy_doubles(o->factor, from->factor, o->ngroup);
    copy_doubles(o->shrink, from->shrink, o->nlinear);
}

/* 1: all weighted values of the loss are complete, and only read from now on. */
static int all_kept(const struct fit_objective *o)
{
    int all = o->kept != NULL;
    for (size_t t = 0; all && t < o->ds->ntile; t++)
        all &= o->is_kept[t];
    return all;
}

enum fit_status fit_objective_twin(const struct fit_objective *from, int threads, struct fit_objective **twin,
                                   struct fit_error *err)
{
    struct fit_objective *o = malloc(sizeof *o);
    *twin = NULL;
    if (!o)
        return fit_no_memory(err, "fit");
    *o = *from;
    o->storage_ = (struct fit_arena){0};
    o->par = NULL;
    o->device = fit_device_sums_share(from->device);
    o->nvalue = o->nnormal = o->nadjoint = 0;
    o->prepared = 0;
    o->summed = 0;
    if (!all_kept(from)) {
        o->kept = NULL;
        o->is_kept = NULL;
    }
    allocate_basic(o);
    if (!o->storage_.failed)
        copy_basic(o, from);
    enum fit_status st = o->storage_.failed
                             ? fit_no_memory(err, "fit")
                             : allocate_blocks(o, threads, fit_parallel_interrupt(from->par), err);
    if (st == FIT_OK)
        *twin = o;
    else
        fit_objective_free(o);
    return st;
}

void fit_objective_free(struct fit_objective *o)
{
    if (!o)
        return;
    fit_parallel_free(o->par);
    fit_device_sums_free(o->device);
    fit_arena_free(&o->storage_);
    free(o);
}
