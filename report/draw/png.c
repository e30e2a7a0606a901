/* png.c -- PNG with a palette (ISO/IEC 15948: signature, IHDR, PLTE, tRNS, IDAT, IEND), written in base64.
 *
 * Rows are not filtered: neighbours in noisy data predict little, and indices are not quantities. */
#include "report/draw/png.h"

#include "report/draw/base64.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct bytes {
    unsigned char *p;
    size_t n;
};

static void put32(struct bytes *b, unsigned long x)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        b->p[b->n++] = (unsigned char)(x >> shift & 255);
}

static void chunk(struct bytes *b, const char *name, const unsigned char *data, size_t n)
{
    put32(b, n);
    size_t begin = b->n;
    memcpy(b->p + b->n, name, 4);
    if (n)
        memcpy(b->p + b->n + 4, data, n);
    b->n += 4 + n;
    put32(b, crc32(crc32(0, NULL, 0), b->p + begin, (uInt)(4 + n)));
}

static void header(struct bytes *b, const struct rp_image *m)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char ihdr[13], palette[3 * (RP_LEVELS + 1)], alpha[RP_LEVELS + 1];
    struct bytes h = {ihdr, 0};
    put32(&h, m->width);
    put32(&h, m->height);
    memcpy(ihdr + 8, (unsigned char[]){8, 3, 0, 0, 0},
           5); /* 8 bits, palette, deflate, no filter, not interlaced */
    for (size_t k = 0; k <= RP_LEVELS; k++) {
        memcpy(palette + 3 * k, m->palette->rgba[k], 3);
        alpha[k] = m->palette->rgba[k][3];
    }
    memcpy(b->p, signature, sizeof signature);
    b->n = sizeof signature;
    chunk(b, "IHDR", ihdr, sizeof ihdr);
    chunk(b, "PLTE", palette, sizeof palette);
    chunk(b, "tRNS", alpha, sizeof alpha);
}

int rp_png_uri(FILE *out, const struct rp_image *m)
{
    const size_t size = m->height * (m->width + 1);
    uLongf packed = compressBound((uLong)size);
    struct bytes file = {malloc(packed + 4096), 0};
    unsigned char *row = malloc(size), *data = malloc(packed);
    int ok = file.p && row && data;
    for (size_t y = 0; ok && y < m->height; y++) {
        row[y * (m->width + 1)] = 0; /* no filter */
        memcpy(row + y * (m->width + 1) + 1, m->pixel + y * m->width, m->width);
    }
    ok = ok && compress2(data, &packed, row, (uLong)size, 6) == Z_OK;
    if (ok) {
        header(&file, m);
        chunk(&file, "IDAT", data, packed);
        chunk(&file, "IEND", NULL, 0);
        fputs("data:image/png;base64,", out);
        rp_base64(out, file.p, file.n);
    }
    free(file.p);
    free(row);
    free(data);
    return ok;
}

void rp_png_resolution(FILE *out, double dpi)
{
    unsigned char phys[9], bytes[32];
    struct bytes data = {phys, 0}, file = {bytes, 0};
    const unsigned long per_metre = (unsigned long)(dpi / 0.0254 + 0.5);
    put32(&data, per_metre);
    put32(&data, per_metre);
    phys[8] = 1; /* the unit is a metre */
    chunk(&file, "pHYs", phys, sizeof phys);
    fwrite(file.p, 1, file.n, out);
}
