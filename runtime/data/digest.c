/* digest.c -- the identity of the fitted data: the SHA-256 of everything that kernels read. */
#include "data/file_times.h"

#include <string.h>

static void add_doubles(struct sha256 *s, const double *x, size_t n)
{
    if (x)
        sha256_update(s, x, n * sizeof *x);
}

void fit_dataset_digest(const struct fit_dataset *ds, size_t naxis, char hex[SHA256_HEX])
{
    const struct fit_layout *l = &ds->layout;
    unsigned char digest[SHA256_BYTES];
    struct sha256 s;
    sha256_init(&s);
    for (size_t t = 0; t < ds->ntile; t++)
        add_doubles(&s, ds->tile[t].sum, 3 * l->ngroup);
    add_doubles(&s, ds->reference, l->ngroup);
    add_doubles(&s, l->time, l->ntime);
    if (fit_dataset_times_differ(ds)) {
        add_doubles(&s, ds->files->time, ds->files->n * l->ntime);
        add_doubles(&s, ds->files->step, ds->files->n);
        sha256_update(&s, ds->files->ntime, ds->files->n * sizeof *ds->files->ntime);
    }
    for (size_t a = 0; a < naxis && l->coord; a++)
        add_doubles(&s, l->coord[a], l->ngroup);
    if (l->frame)
        sha256_update(&s, l->frame, l->nframe * sizeof *l->frame);
    sha256_final(&s, digest);
    sha256_hex(digest, hex);
}
