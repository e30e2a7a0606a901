/* pack.c -- the HDF5 filters shuffle and deflate, on many chunks at a time. See pack.h.
 *
 * Shuffle: byte b of value k becomes byte k of plane b (HDF5 file format, IV.A.2.l, filter 2). Deflate: zlib with
 * room for the size + 0.1 % + 12 bytes, the bound of its manual; a chunk that needs more is stored uncompressed. */
#include "hdf5/pack.h"

#include "machine/team.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

enum { DEFLATE_SKIPPED = 2 };

struct packing {
    const struct fit_packing *p;
    size_t first;
    struct fit_packed *out;
};

static void shuffle(const unsigned char *from, size_t n, size_t item, unsigned char *to)
{
    for (size_t b = 0; b < item; b++)
        for (size_t k = 0; k < n; k++)
            to[b * n + k] = from[k * item + b];
}

static void pack_chunk(void *user, size_t k, size_t thread)
{
    const struct packing *x = user;
    const struct fit_packing *p = x->p;
    const size_t n = p->n / p->chunks, bytes = n * p->item;
    uLongf room = (uLongf)ceil((double)bytes * 1.001) + 12;
    unsigned char *plain = malloc(bytes), *packed = malloc(room);
    (void)thread;
    x->out[k] = (struct fit_packed){.data = NULL};
    if (plain && packed) {
        shuffle((const unsigned char *)p->value + (x->first + k) * bytes, n, p->item, plain);
        if (compress2(packed, &room, plain, (uLong)bytes, p->level) == Z_OK)
            x->out[k] = (struct fit_packed){.data = packed, .size = room};
        else
            x->out[k] = (struct fit_packed){.data = plain, .size = bytes, .skipped = DEFLATE_SKIPPED};
    }
    if (x->out[k].data != plain)
        free(plain);
    if (x->out[k].data != packed)
        free(packed);
}

void fit_pack_chunks(const struct fit_packing *p, size_t first, size_t n, struct fit_packed *out)
{
    struct packing x = {p, first, out};
    fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_NEXT}, n, pack_chunk, &x);
}
