/* fits.c -- headers and bytes of FITS files (fits.h).
 *
 * A unit is a header of cards of 80 characters, `KEYWORD = value / comment`, up to END, and its data; each fills blocks
 * of 2880 bytes. */
#include "observation/fits.h"

#include "observation/formats.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 2880, CARD = 80, MOST_HEADER = 1 << 24 };

/* ---- files ---------------------------------------------------------------------------------------------- */

int fit_fits_is_fits(const char *file)
{
    char word[10] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, word, 9, 0);
    if (fd >= 0)
        close(fd);
    return n == 9 && !strncmp(word, "SIMPLE  =", 9);
}

enum fit_status fit_fits_open(const char *file, struct fit_fits **f, struct fit_error *err)
{
    struct stat s;
    *f = calloc(1, sizeof **f);
    if (!*f)
        return fit_no_memory(err, file);
    (*f)->file = file;
    (*f)->fd = open(file, O_RDONLY | O_CLOEXEC);
    if ((*f)->fd >= 0 && !fstat((*f)->fd, &s) && S_ISREG(s.st_mode)) {
        (*f)->size = (uint64_t)s.st_size;
        return FIT_OK;
    }
    fit_fail(err, FIT_ERR_IO, "%s: %s", file, (*f)->fd < 0 ? strerror(errno) : "is no file");
    fit_fits_close(*f);
    *f = NULL;
    return FIT_ERR_IO;
}

void fit_fits_close(struct fit_fits *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f->header);
    free(f);
}

/* n bytes of the file from `at`. */
static enum fit_status bytes_at(const struct fit_fits *f, uint64_t at, size_t n, void *to, struct fit_error *err)
{
    char *p = to;
    if (at > f->size || n > f->size - at)
        return fit_fail(err, FIT_ERR_DATA, "%s: ends at byte %llu; bytes %llu to %llu are announced", f->file,
                        (unsigned long long)f->size, (unsigned long long)at, (unsigned long long)(at + n));
    while (n) {
        ssize_t got = pread(f->fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fit_fail(err, FIT_ERR_IO, "%s: %s", f->file,
                            got ? strerror(errno) : "became shorter while it was read");
        p += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return FIT_OK;
}

enum fit_status fit_fits_read(const struct fit_fits *f, uint64_t first, size_t n, void *to, struct fit_error *err)
{
    if (first > f->bytes || n > f->bytes - first)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s: the data of the unit end at byte %llu", f->file, f->name,
                        (unsigned long long)f->bytes);
    return bytes_at(f, f->data + first, n, to, err);
}

/* ---- cards ---------------------------------------------------------------------------------------------- */

/* The value field of a keyword, 70 characters; NULL: not there. */
static const char *value_of(const struct fit_fits *f, const char *keyword)
{
    char key[12];
    snprintf(key, sizeof key, "%-8.8s= ", keyword);
    for (size_t k = 0; k < f->ncard; k++)
        if (!strncmp(f->header + k * CARD, key, 10))
            return f->header + k * CARD + 10;
    return NULL;
}

int fit_fits_number(const struct fit_fits *f, const char *keyword, double *value)
{
    const char *v = value_of(f, keyword);
    char text[CARD - 9], *end;
    if (!v)
        return 0;
    memcpy(text, v, CARD - 10);
    text[CARD - 10] = 0;
    text[strcspn(text, "/")] = 0;
    for (char *c = text; *c; c++) /* exponents of Fortran */
        *c = *c == 'D' || *c == 'd' ? 'e' : *c;
    double x = strtod(text, &end);
    if (end == text || end[strspn(end, " ")])
        return 0;
    *value = x;
    return 1;
}

static void numbered(char key[12], const char *keyword, size_t k)
{
    snprintf(key, 12, "%.7s%zu", keyword, k % 1000);
}

int fit_fits_number_of(const struct fit_fits *f, const char *keyword, size_t k, double *value)
{
    char key[12];
    numbered(key, keyword, k);
    return fit_fits_number(f, key, value);
}

void fit_fits_text(const struct fit_fits *f, const char *keyword, char text[FIT_FITS_WORD])
{
    const char *v = value_of(f, keyword), *end = v ? v + CARD - 10 : NULL;
    size_t n = 0;
    while (v && v < end && *v == ' ')
        v++;
    if (v && v < end && *v++ == '\'')
        for (; v < end && n < FIT_FITS_WORD - 1; v++) {
            if (*v == '\'' && (v + 1 == end || *++v != '\'')) /* two of them are one */
                break;
            text[n++] = *v;
        }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
}

void fit_fits_text_of(const struct fit_fits *f, const char *keyword, size_t k, char text[FIT_FITS_WORD])
{
    char key[12];
    numbered(key, keyword, k);
    fit_fits_text(f, key, text);
}

/* ---- units ---------------------------------------------------------------------------------------------- */

/* A nonnegative integer; 1, or 0 when it is missing or of another form (then *n stays). */
static int count_of(const struct fit_fits *f, const char *keyword, size_t k, size_t *n)
{
    char key[12];
    double x;
    numbered(key, keyword, k);
    if (!k)
        snprintf(key, sizeof key, "%.8s", keyword);
    if (!fit_fits_number(f, key, &x) || !(x >= 0 && x < 0x1p53) || x != floor(x))
        return 0;
    *n = (size_t)x;
    return 1;
}

static int is_end(const char *card)
{
    return !strncmp(card, "END     ", 8);
}

/* All cards up to END, from byte `at`; f->data is set. */
static enum fit_status read_header(struct fit_fits *f, uint64_t at, struct fit_error *err)
{
    size_t room = 0, n = 0;
    f->ncard = 0;
    for (;;) {
        if (n + BLOCK > room) {
            char *grown = n < MOST_HEADER ? realloc(f->header, room = 2 * room + 4 * BLOCK) : NULL;
            if (!grown)
                return n < MOST_HEADER ? fit_no_memory(err, f->file)
                                       : fit_fail(err, FIT_ERR_DATA, "%s: a header without END", f->file);
            f->header = grown;
        }
        enum fit_status st = bytes_at(f, at + n, BLOCK, f->header + n, err);
        if (st != FIT_OK)
            return st;
        for (size_t k = 0; k < BLOCK / CARD; k++, f->ncard++)
            if (is_end(f->header + n + k * CARD)) {
                f->data = at + n + BLOCK;
                return FIT_OK;
            }
        n += BLOCK;
    }
}

static enum fit_status bad(const struct fit_fits *f, const char *keyword, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_DATA, "%s: the header at byte %llu has no sound %s", f->file,
                    (unsigned long long)(f->data - (f->ncard / (BLOCK / CARD) + 1) * BLOCK), keyword);
}

static enum fit_status read_axes(struct fit_fits *f, struct fit_error *err)
{
    double bitpix;
    size_t naxis;
    if (!fit_fits_number(f, "BITPIX", &bitpix) ||
        !(fabs(bitpix) == 64 || fabs(bitpix) == 32 || bitpix == 16 || bitpix == 8))
        return bad(f, "BITPIX", err);
    f->bitpix = (int)bitpix;
    if (!count_of(f, "NAXIS", 0, &naxis))
        return bad(f, "NAXIS", err);
    if (naxis > FIT_FITS_AXES)
        return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: %zu axes; at most %d are read", f->file, naxis, FIT_FITS_AXES);
    f->naxis = (int)naxis;
    for (size_t k = 0; k < FIT_FITS_AXES; k++)
        f->axis[k] = 1;
    for (size_t k = 0; k < naxis; k++)
        if (!count_of(f, "NAXIS", k + 1, &f->axis[k]))
            return bad(f, "NAXISn", err);
    return FIT_OK;
}

/* Random groups: NAXIS1 = 0 and GROUPS = T; the remaining axes are moved down. */
static void find_groups(struct fit_fits *f)
{
    const char *v = value_of(f, "GROUPS");
    f->groups = f->naxis > 1 && !f->axis[0] && v && v[strspn(v, " ")] == 'T';
    if (!f->groups)
        return;
    memmove(f->axis, f->axis + 1, (FIT_FITS_AXES - 1) * sizeof *f->axis);
    f->axis[FIT_FITS_AXES - 1] = 1;
    f->naxis--;
}

/* Bytes of the data: |BITPIX| / 8 GCOUNT (PCOUNT + product of axes), all of them in the file. */
static enum fit_status find_data(struct fit_fits *f, struct fit_error *err)
{
    uint64_t n = f->naxis > 0;
    int over = 0;
    f->pcount = 0;
    f->gcount = 1;
    count_of(f, "PCOUNT", 0, &f->pcount);
    count_of(f, "GCOUNT", 0, &f->gcount);
    for (int k = 0; k < f->naxis; k++)
        over |= __builtin_mul_overflow(n, f->axis[k], &n);
    over |= __builtin_add_overflow(n, f->pcount, &n) || __builtin_mul_overflow(n, f->gcount, &n) ||
            __builtin_mul_overflow(n, fit_fits_item(f->bitpix), &n);
    if (over || n > f->size - f->data)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: ends at byte %llu; its header announces data of %s%llu bytes from byte %llu", f->file,
                        (unsigned long long)f->size, over ? "more than " : "", (unsigned long long)n,
                        (unsigned long long)f->data);
    f->bytes = n;
    f->next = f->data + (n + BLOCK - 1) / BLOCK * BLOCK;
    return FIT_OK;
}

enum fit_status fit_fits_next(struct fit_fits *f, int *more, struct fit_error *err)
{
    uint64_t at = f->next;
    *more = 0;
    if (at + BLOCK > f->size && at)
        return FIT_OK;
    char word[10] = "";
    enum fit_status st = bytes_at(f, at, 9, word, err);
    if (st != FIT_OK)
        return st;
    if (strncmp(word, at ? "XTENSION=" : "SIMPLE  =", 9)) /* behind the last unit anything may stand */
        return at ? FIT_OK : fit_fail(err, FIT_ERR_DATA, "%s: is no FITS file", f->file);
    if ((st = read_header(f, at, err)) != FIT_OK || (st = read_axes(f, err)) != FIT_OK)
        return st;
    f->extension[0] = 0;
    if (at)
        fit_fits_text(f, "XTENSION", f->extension);
    fit_fits_text(f, "EXTNAME", f->name);
    find_groups(f);
    *more = (st = find_data(f, err)) == FIT_OK;
    return st;
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

static uint64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t x = 0;
    for (size_t k = 0; k < n; k++)
        x = x << 8 | p[k];
    return x;
}

static double number(uint64_t x, int bitpix)
{
    float f;
    double d;
    uint32_t w = (uint32_t)x;
    switch (bitpix) {
    case 8: return (double)x;
    case 16: return (int16_t)(uint16_t)x;
    case 32: return (int32_t)w;
    case 64: return (double)(int64_t)x;
    case -32: memcpy(&f, &w, sizeof f); return f;
    default: memcpy(&d, &x, sizeof d); return d;
    }
}

void fit_fits_decode(const unsigned char *p, int bitpix, size_t n, double *value)
{
    size_t item = fit_fits_item(bitpix);
    for (size_t k = 0; k < n; k++)
        value[k] = number(big_endian(p + k * item, item), bitpix);
}
