/* copy.c -- replicates of a dataset with other values or weights; thinned copies; one group of a table. */
#include "base/arena.h"
#include "data/dataset_impl.h"
#include "data/file_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/team.h"

/* ---- replicas ------------------------------------------------------------------------------------------------- */

/* Shares the geometry of the original; tiles, sums, counts and one of y and w are its own. */
enum fit_status fit_dataset_replica(const struct fit_dataset *ds, int weights, struct fit_dataset **out,
                                    struct fit_error *err)
{
    const struct fit_dataset_private *from = ds->private_;
    struct fit_dataset *c = malloc(sizeof *c);
    struct fit_dataset_private *p = malloc(sizeof *p);
    size_t ngroup = ds->layout.ngroup;
    *out = NULL;
    if (fit_dataset_streamed(ds) || !c || !p) {
        free(c);
        free(p);
        return fit_dataset_streamed(ds)
                   ? fit_fail(err, FIT_ERR_CONFIG, "a bootstrap needs the data in memory: --stream off")
                   : fit_no_memory(err, "data");
    }
    *c = *ds;
    *p = *from;
    c->private_ = p;
    c->common = 0;
    p->own = NULL;
    p->original = ds->tile;
    p->storage = (struct fit_arena){0};
    c->tile = fit_take_copy(&p->storage, ds->tile, ds->ntile, sizeof *c->tile);
    c->npoint_group = fit_take(&p->storage, ngroup, sizeof *c->npoint_group);
    c->range = ds->range ? fit_take_copy(&p->storage, ds->range, ngroup, sizeof *c->range) : NULL;
    p->sum = fit_take(&p->storage, ds->ntile * ngroup * 3, sizeof *p->sum);
    struct fit_pages *own = weights ? &p->w : &p->y;
    *own = (struct fit_pages){0};
    if (p->storage.failed || fit_dataset_block_new(own, p->ndouble, err) != FIT_OK) {
        fit_dataset_replica_free(c);
        return fit_no_memory(err, "data");
    }
    p->own = own->data;
    fit_dataset_point_tiles(c);
    *out = c;
    return FIT_OK;
}

void fit_dataset_replica_free(struct fit_dataset *c)
{
    if (!c)
        return;
    struct fit_dataset_private *p = c->private_;
    if (p->own == p->w.data)
        fit_pages_free(&p->w);
    else if (p->own == p->y.data)
        fit_pages_free(&p->y);
    fit_arena_free(&p->storage);
    free(p);
    free(c);
}

struct rewriting {
    struct fit_dataset *ds;
    fit_rewrite_fn *fn;
    void *user;
};

static void rewrite_tile(void *user, size_t k, size_t thread)
{
    const struct rewriting *x = user;
    size_t place = x->ds->private_->offset[k];
    (void)thread;
    x->fn(x->user, &x->ds->private_->original[k], x->ds->private_->own + place, place);
}

enum fit_status fit_dataset_rewrite(struct fit_dataset *c, fit_rewrite_fn *fn, void *user, struct fit_error *err)
{
    struct rewriting x = {c, fn, user};
    fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_SHARE}, c->ntile, rewrite_tile, &x);
    return fit_dataset_finish(c, err);
}

/* ---- fewer frames ----------------------------------------------------------------------------------------------- */

/* About `wanted` of the first n frames. */
static void take_some(size_t n, size_t wanted, unsigned char *taken)
{
    size_t s = (n + wanted - 1) / wanted, scales = 0, station = 0;
    while ((size_t)2 << scales < 2 * s)
        scales++;
    for (size_t at = 0; at < n; at += 2 * s, station++) {
        size_t near = (size_t)1 << (station / 2 % (scales + 1)), far = (size_t)1 << ((station / 2 + 1) % (scales + 1));
        taken[at] = 1;
        if (station % 2)
            continue;
        if (at + near < n)
            taken[at + near] = 1;
        if (at + near + far < n)
            taken[at + near + far] = 1;
    }
}

/* The most used frames below `less` that a file has; 0: none. */
static size_t next_shorter(const struct fit_dataset *ds, size_t less)
{
    size_t most = 0;
    for (size_t g = 0; g < ds->layout.ngroup; g++) {
        const size_t n = fit_dataset_group_frames(ds, g);
        if (n < less && n > most)
            most = n;
    }
    return most;
}

enum fit_status fit_dataset_thin(const struct fit_dataset *ds, size_t wanted, struct fit_dataset **thin,
                                 struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = ds->layout.nframe, count = 0;
    uint32_t *pick = fit_take(&a, n, sizeof *pick);
    unsigned char *taken = fit_take(&a, n, 1);
    if (a.failed)
        return fit_no_memory(err, "data");
    /* files much shorter than others keep their frames */
    for (size_t some = n; some; some = next_shorter(ds, (some + 1) / 2))
        take_some(some, wanted, taken);
    for (size_t k = 0; k < n; k++)
        if (taken[k])
            pick[count++] = (uint32_t)k;
    return fit_dataset_coarse(ds, count, pick, thin, err);
}

/* ---- one group of a table ---------------------------------------------------------------------------------------- */

struct rows {
    double *value, *sigma, **column, **axis;
    size_t n;
};

static void take_rows(const struct fit_dataset *ds, size_t g, struct rows *r)
{
    const struct fit_dataset_private *p = ds->private_;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        for (size_t i = t->i0; t->group == g && i < t->i1; i++) {
            size_t at = fit_tile_offset(&ds->layout, t, i, 0, g);
            const int counts = !t->w || t->w[at] > 0;
            if (!counts && !p->keep)
                continue;
            r->value[r->n] = counts ? t->y[at] + ds->reference[g] : NAN;
            r->sigma[r->n] = counts && t->w ? 1 / sqrt(t->w[at]) : 1;
            for (size_t c = 0; c < p->ncolumn; c++)
                r->column[c][r->n] = ds->layout.column[c][i];
            for (size_t a = 0; a < p->naxis; a++)
                r->axis[a][r->n] = ds->layout.coord[a][g];
            r->n++;
        }
    }
}

enum fit_status fit_dataset_group_rows(const struct fit_dataset *ds, size_t g, struct fit_dataset **one,
                                       struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_dataset_private *p = ds->private_;
    size_t n = ds->npoint_group[g] + 1, columns = p->ncolumn + p->naxis;
    double *all = fit_take(&a, (columns + 2) * n, sizeof *all), **pointer = fit_take(&a, columns, sizeof *pointer);
    enum fit_status st;
    *one = NULL;
    if (a.failed)
        return fit_no_memory(err, "data");
    for (size_t c = 0; c < columns; c++)
        pointer[c] = all + (2 + c) * n;
    struct rows r = {all, all + n, pointer, pointer + p->ncolumn, 0};
    take_rows(ds, g, &r);
    struct fit_dataset_table t = {.nrow = r.n,
                                  .ncolumn = p->ncolumn,
                                  .naxis = p->naxis,
                                  .nsetting = p->nsetting,
                                  .column = (const double *const *)r.column,
                                  .axis = (const double *const *)r.axis,
                                  .value = r.value,
                                  .sigma = ds->weighted ? r.sigma : NULL,
                                  .setting = ds->layout.setting,
                                  .center = p->center,
                                  .keep = p->keep};
    st = fit_dataset_new_table(&t, one, err);
    if (st == FIT_OK)
        st = fit_dataset_finish(*one, err);
    return st;
}
