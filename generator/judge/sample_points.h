/* sample_points.h -- points in the declared box of a model, which accuracy.c and stability.c examine.
 *
 * Parameters: the sets of random(), those of the tests, the start with one value after the other at its bounds, at zero
 * and near zero, corners of the bounds, and points within them (on a logarithmic scale where the bounds are positive
 * and more than a factor 100 apart). Settings and coordinates: of the tests, defaults; the ends of an axis' declared
 * range. Rows: those of the tests and the declared ranges of columns; without either some of order 1, and then also
 * small ones and 0, which are `guessed`. Frames: 12 times between 0 and 1000 frame periods; the pairs among them are
 * neighbours early and late, and distant frames. Everything is the same in every run.
 */
#pragma once

#include "graph/eval.h"
#include "model/model.h"

enum { HG_PLACES_FRAMES = 12, HG_PLACES_PAIRS = 6 };

enum hg_origin { HG_FROM_RANDOM, HG_FROM_TEST, HG_FROM_BOUND, HG_FROM_CORNER, HG_FROM_INSIDE };

/* One parameter set with its rows or pairs. */
struct hg_sample {
    enum hg_origin origin;
    double *param, *linear, *setting, *coord;
    double step;
    uint32_t row, nrow; /* rows of the box that go with it */
};

struct hg_places {
    const struct hg_model *m;
    struct hg_sample *sample;
    uint32_t n;
    size_t room;
    double **row;    /* numbers of columns */
    unsigned char *guessed;
    uint32_t nrow, ntest; /* the first are those of tests */
    double time[HG_PLACES_FRAMES]; /* of the sample set last by hg_places_point */
};

struct hg_places *hg_places_new(const struct hg_model *m);

/* 0 when every point is guessed: a table without ranges and tests. */
int hg_places_declared(const struct hg_places *b);

/* Points of a sample: pairs or rows. */
uint32_t hg_places_of(const struct hg_places *b, uint32_t s);

/* Fills the point of a sample. Returns 0 when it is guessed, 1 for a row of a test (with whatever parameters), 2 for
 * a point in the declared box: a row within the ranges of columns, or a pair. */
int hg_places_point(struct hg_places *b, uint32_t s, uint32_t place, struct hg_point *p);

/* "D0 = 1000, alpha = -2, t1 = 0, t2 = 0.1" */
const char *hg_places_text(struct hg_places *b, uint32_t s, uint32_t place);
