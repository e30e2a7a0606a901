/* share.c -- see share.h. */
#include "data/share.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "data/dataset_impl.h"
#include "data/sum_tree.h"
#include "data/tile_sums.h"
#include "ranks/ranks.h"

/* Passes over fewer values take less time than a meeting of ranks. */
static const double VALUES_FOR_RANKS = 20000;

int fit_dataset_shared(const struct fit_dataset *ds)
{
    const double n = (double)ds->layout.nframe;
    return ds->common && fit_ranks_shared() && n * (n - 1) / 2 * (double)ds->layout.ngroup >= VALUES_FOR_RANKS;
}

int fit_dataset_divided(const struct fit_dataset *ds)
{
    return ds->last - ds->first < ds->ntile;
}

/* The most that a share weighs. */
static double heaviest(const double *upto, size_t size, const size_t *cut)
{
    double most = 0;
    for (size_t r = 0; r < size; r++)
        most = fmax(most, upto[cut[r + 1]] - upto[cut[r]]);
    return most;
}

/* By number, which needs the fewest nodes, unless shares by weight are more even. */
int fit_share_leaves(const struct fit_dataset *ds, size_t size, size_t *cut)
{
    static const double MORE_EVEN = 1.01;
    FIT_SCRATCH(a);
    const size_t n = fit_parallel_leaves(ds->ntile);
    double *upto = fit_take(&a, n + 1, sizeof *upto);
    size_t *weighed = fit_take(&a, size + 1, sizeof *weighed);
    if (a.failed)
        return 0;
    for (size_t leaf = 0; leaf < n; leaf++) {
        upto[leaf + 1] = upto[leaf];
        for (size_t k = leaf * ds->ntile / n; k < (leaf + 1) * ds->ntile / n; k++)
            upto[leaf + 1] += (double)fit_tile_doubles(&ds->layout, &ds->tile[k]);
    }
    for (size_t r = 0; r <= size; r++) {
        cut[r] = fit_tree_cut(n, size, r);
        weighed[r] = fit_tree_cut_weighed(upto, n, size, r);
    }
    if (heaviest(upto, size, cut) > MORE_EVEN * heaviest(upto, size, weighed))
        memcpy(cut, weighed, (size + 1) * sizeof *cut);
    return 1;
}

enum fit_status fit_share_begin(struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    const size_t n = fit_parallel_leaves(ds->ntile), size = fit_ranks_size();
    p->cut = fit_take(&p->storage, size + 1, sizeof *p->cut);
    if (!p->cut || !fit_share_leaves(ds, size, p->cut))
        return fit_no_memory(err, "data");
    for (size_t r = 0; r <= size; r++)
        p->cut[r] = p->cut[r] * ds->ntile / n;
    return FIT_OK;
}

/* First tile of rank r; of rank `size`: ntile. */
static size_t cut(const struct fit_dataset *ds, size_t r)
{
    return ds->private_->cut[r];
}

void fit_dataset_share(const struct fit_dataset *ds, size_t *first, size_t *last)
{
    const int shared = fit_dataset_shared(ds);
    *first = shared ? cut(ds, fit_ranks_rank()) : 0;
    *last = shared ? cut(ds, fit_ranks_rank() + 1) : ds->ntile;
}

size_t fit_share_owner(const struct fit_dataset *ds, size_t k)
{
    size_t low = 0, high = fit_ranks_size(); /* cut(low) <= k < cut(high) */
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (cut(ds, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void fit_dataset_divide(struct fit_dataset *ds)
{
    struct fit_dataset_private *p = ds->private_;
    size_t first, last;
    fit_dataset_share(ds, &first, &last);
    const size_t from = first < ds->ntile ? p->offset[first] : p->ndouble;
    const size_t to = last < ds->ntile ? p->offset[last] : p->ndouble;
    for (size_t k = first; k < last; k++)
        p->offset[k] -= from;
    p->ndouble = to > from ? to - from : FIT_LANES; /* at least one, also where a rank has no tiles */
    ds->first = first;
    ds->last = last;
}

/* ---- telling --------------------------------------------------------------------------------------------- */

enum { EACH = 6 }; /* numbers of a tile and a group */

static void pack(const double *sum, const size_t *count, const struct fit_range *range, size_t k, double *to)
{
    memcpy(to, sum + k * 3, 3 * sizeof *to);
    to[3] = (double)count[k];
    to[4] = range[k].low;
    to[5] = range[k].high;
}

enum fit_status fit_share_sums(const struct fit_dataset *ds, double *sum, size_t *count, struct fit_range *range,
                               struct fit_error *err)
{
    FIT_SCRATCH(a);
    if (!fit_dataset_shared(ds))
        return FIT_OK;
    const size_t ng = ds->layout.ngroup, n = ds->ntile * ng, size = fit_ranks_size();
    double *mine = fit_take(&a, n * EACH, sizeof *mine), *all = fit_take(&a, n * EACH, sizeof *all);
    size_t *share = fit_take(&a, size, sizeof *share), first, last;
    const enum fit_status st = fit_ranks_agree_status(a.failed ? fit_no_memory(err, "data") : FIT_OK, err);
    if (st != FIT_OK)
        return st;
    fit_dataset_share(ds, &first, &last);
    for (size_t k = first * ng; k < last * ng; k++)
        pack(sum, count, range, k, mine + (k - first * ng) * EACH);
    for (size_t r = 0; r < size; r++)
        share[r] = (cut(ds, r + 1) - cut(ds, r)) * ng * EACH;
    fit_ranks_gather(mine, share, all);
    for (size_t k = 0; k < n; k++) {
        memcpy(sum + k * 3, all + k * EACH, 3 * sizeof *sum);
        count[k] = (size_t)all[k * EACH + 3];
        range[k] = (struct fit_range){all[k * EACH + 4], all[k * EACH + 5]};
    }
    return FIT_OK;
}

void fit_share_add(struct fit_dataset_private *p)
{
    fit_ranks_add(p->y.data, p->ndouble);
    if (p->w.data)
        fit_ranks_add(p->w.data, p->ndouble);
}
