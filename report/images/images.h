/* images.h -- pages about images of interferometers: one image and its uncertainties, a survey and its Top Set. */
#ifndef RP_IMAGES_H
#define RP_IMAGES_H

#include "hdf5/reader.h"
#include "imaging/options.h"
#include "report/draw/markup.h"

/* 1: a file that `homodyne-imaging fit`, `eval` or `survey` wrote, with images in it. */
int rp_images_is_one(const char *file);

/* Writes the page. thresholds: for a survey, the largest reduced chi2 of data terms; 2 by default. */
enum fit_status rp_images_write(struct rp_markup *out, const char *file, size_t nthreshold,
                                const struct fit_named_number *threshold, struct fit_error *err);

/* ---- what its files share ------------------------------------------------------------------------------- */

struct rp_map { /* an image, row by row from the North, columns from the East */
    size_t nx, ny;
    double pixel; /* side, radians; NaN: unknown */
    double lo, hi; /* colours; lo = -hi: of both signs */
    const char *unit;
    double *value;
};

enum fit_status rp_map_read(const struct fit_h5 *h, const char *path, struct rp_map *map, struct fit_error *err);
void rp_map_free(struct rp_map *map);

/* A figure of the page: the map with axes and a bar of colours (small: without). */
enum fit_status rp_map_figure(struct rp_markup *out, const struct rp_map *map, const char *title, int small,
                              struct fit_error *err);

/* The two pages; style sheet and head are there. */
enum fit_status rp_image_page(struct rp_markup *out, const struct fit_h5 *h, struct fit_error *err);
enum fit_status rp_survey_page(struct rp_markup *out, const struct fit_h5 *h, size_t nthreshold,
                               const struct fit_named_number *threshold, struct fit_error *err);

#endif
