/* pass_cost.c -- the cost of a pass over the data with many ranks. See pass_cost.h. */
#include "data/pass_cost.h"

#include <math.h>

#include "base/arena.h"
#include "data/share.h"
#include "data/sum_tree.h"
#include "data/tile_sums.h"

struct fit_pass_cost fit_pass_cost_here(void)
{
    return (struct fit_pass_cost){.addition = 0.25e-9, .message = 20e-6, .bytes = 1e9};
}

/* Pairs i < j of a tile, for one group; rows of a table. */
static double values_of(const struct fit_dataset *ds, const struct fit_tile *t)
{
    double n = 0;
    if (ds->layout.ntime == 0)
        return (double)(t->i1 - t->i0);
    for (size_t i = t->i0; i < t->i1; i++)
        n += (double)(t->j1 - (t->j0 > i + 1 ? t->j0 : i + 1));
    return n * (double)ds->layout.ngroup;
}

static double values_between(const struct fit_dataset *ds, size_t leaves, size_t a, size_t b)
{
    double n = 0;
    for (size_t k = a * ds->ntile / leaves; k < b * ds->ntile / leaves; k++)
        n += values_of(ds, &ds->tile[k]);
    return n;
}

struct fit_pass_shares fit_pass_shares(const struct fit_dataset *ds, size_t nout, size_t ranks)
{
    struct fit_pass_shares s = {.ranks = ranks, .leaves = fit_parallel_leaves(ds->ntile), .nout = nout};
    size_t leaf[FIT_TREE_NODES], width[FIT_TREE_NODES];
    FIT_SCRATCH(room);
    size_t *cut = fit_take(&room, ranks + 1, sizeof *cut);
    if (!cut || !fit_share_leaves(ds, ranks, cut))
        return s;
    for (size_t r = 0; r < ranks; r++) {
        const size_t a = cut[r], b = cut[r + 1];
        const double values = values_between(ds, s.leaves, a, b);
        s.nodes += fit_tree_cover(s.leaves, a, b, leaf, width);
        s.most_leaves = b - a > s.most_leaves ? b - a : s.most_leaves;
        s.values += values;
        s.most = fmax(s.most, values);
    }
    return s;
}

double fit_pass_seconds(const struct fit_pass_cost *c, const struct fit_pass_shares *s)
{
    const double nout = (double)s->nout, nodes = (double)s->nodes;
    double t = s->most * fmax(c->value, c->read) + (double)s->most_leaves * nout * c->addition;
    if (s->ranks > 1)
        t += ceil(log2((double)s->ranks)) * c->message + 8 * nodes * nout / c->bytes + nodes * nout * c->addition;
    return t;
}
