/* store.h -- the points of a survey on disk: finished points are kept.
 *
 * A folder of files, one for each process that took part, to which complete records are added. The key of a record is
 * the SHA-256 of everything that determines it: model, data, images, settings, values of the axes. So any number of
 * processes may work on any parts; a killed one loses only its current points; and after a change of an axis only new
 * points are computed. A truncated record, or one with a wrong checksum, counts as missing.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "common/sha256.h"

struct fit_point { /* nterm and npixel numbers follow in the file */
    char key[SHA256_HEX];
    uint32_t end; /* enum fit_optimize_end */
    uint64_t nit, nfev;
    double J, gradient_max, correlation, seconds;
};

struct fit_store {
    char folder[1024];
    size_t nterm, npixel;
    int fd; /* of this process's file; -1: none yet */
    struct fit_arena arena;
    size_t n;
    struct fit_stored { /* sorted by key */
        struct fit_point point;
        double *term;
        char *file;
        uint64_t image_at;
    } * stored;
};

/* Reads what is there. */
enum fit_status fit_store_open(struct fit_store *s, const char *folder, size_t nterm, size_t npixel,
                               struct fit_error *err);
const struct fit_stored *fit_store_find(const struct fit_store *s, const char *key);
enum fit_status fit_store_image(const struct fit_store *s, const struct fit_stored *stored, double *image,
                                struct fit_error *err);

/* Adds a point to this process's file; only one thread at a time may do so. */
enum fit_status fit_store_add(struct fit_store *s, const struct fit_point *point, const double *term,
                              const double *image, struct fit_error *err);
void fit_store_close(struct fit_store *s);
