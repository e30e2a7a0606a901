/* scores_tile.h -- the results of one tile of pairs: scores by blocks of frames, sums over its residuals, and the
 * residuals at its edges. Groups are processed one after the other, row by row, in strips (scores_strip.h).
 */
#pragma once

#include "errors/scores_impl.h"
#include "errors/scores_strip.h"

/* The same for all tiles. */
struct fit_score_tiles {
    struct fit_score_pass *pass;
    size_t width;      /* columns of a tile, at most; whole vectors */
    uint32_t *step[2]; /* of stencils of three and of five frames (local_noise.h) */
    uint32_t *until[2]; /* nframe: where the next has another step */
    double *limit;     /* ngroup: squares of differences beyond it are those of outliers */
};

/* Columns of one row, from `begin` up to that of the next stretch, in one bin of misfit.h and in one decile of lag. */
struct fit_score_stretch {
    uint32_t begin, bin, decile;
};

/* Of each thread. */
struct fit_score_patch {
    size_t a0, na, b0, nb;           /* blocks that the tile meets */
    double *score, *field;           /* ngroup x na x nb x P; P + 1, or NULL */
    struct fit_speckle_moments *moments; /* ngroup, or NULL */
    double *first;                   /* as scores.first */
    double *bins;                    /* numbers of all bins */
    double *row;                     /* ngroup x chunk x 3: sum of z, of z^2, number */
    struct fit_score_sums *sums;     /* ngroup */
    double *edges;                   /* fit_score_edges() */

    /* while a group is worked on */
    struct fit_strip strip;
    double *other[2];                /* z and count of the row before */
    uint32_t *i, *j, *g;             /* points: j by column; the others the same for a whole strip */
    double *room;                    /* of the loss */
    double *column, *column_field;   /* sums by column over the rows of a block: scores, fields */
    double *known;                   /* rows of z with NaN, row i at i % (FIT_NOISE_REACH + 1) */
    double *residual;                /* y - mean with NaN */
    double *moment_room;
    double *lanes;                   /* of all bins of one group, and of the deciles */
    unsigned char *met;              /* nbin: its lanes are in use */
    struct fit_score_stretch *stretch; /* of all rows of the tile */
    size_t *stretch_first;           /* chunk + 1 */
    struct fit_arena storage_;       /* of the first patch: of all */
};

/* Residuals z of group g at the edges of the tile, NaN where none counts: by row, in the first column (where it is
 * that of the panel) and in the last; by column, in the first row, and in the last one where the chunk is full. */
struct fit_score_edges {
    double *left, *right, *top, *bottom;
};

static inline struct fit_score_edges fit_score_edges(const struct fit_score_tiles *x, const struct fit_score_patch *q,
                                                     size_t g)
{
    const size_t chunk = x->pass->o->ds->layout.chunk;
    double *at = q->edges + g * 2 * (chunk + x->width);
    return (struct fit_score_edges){at, at + chunk, at + 2 * chunk, at + 2 * chunk + x->width};
}

/* 0: out of memory. */
int fit_score_tiles_new(struct fit_score_pass *p, struct fit_score_tiles *x);
void fit_score_tiles_free(struct fit_score_tiles *x);

/* NULL: out of memory. */
struct fit_score_patch *fit_score_patches_new(const struct fit_score_tiles *x, size_t threads);
void fit_score_patches_free(struct fit_score_patch *q);

/* Blocks that tile t meets, into q. */
void fit_score_patch_frame(const struct fit_scores *s, const struct fit_tile *t, struct fit_score_patch *q);

/* Everything of tile t into q. */
void fit_score_patch_take(const struct fit_score_tiles *x, const struct fit_tile *t, struct fit_score_patch *q);
