/* fits.h -- reading FITS files: headers and bytes, as images and UVFITS need them (FITS Standard 4.0, Pence et al.
 * 2010).
 *
 * Why not cfitsio: of its many formats two kinds of units are needed here, images (also as random groups) and binary
 * tables without arrays of variable length; its file names are small programs, it has a history of overruns with files
 * made for it, and programs that read HDF5 only would depend on it.  This reader believes nothing that a header says
 * before the file has the bytes for it, takes memory in proportion to the file, and is fuzzed (tests/fuzz/fuzz_fits.c).
 *
 *     fit_fits_open(file, &f, err);
 *     while (fit_fits_next(f, &more, err) == FIT_OK && more)       f->hdu is the next unit
 *         ... fit_fits_number(f, "CRVAL1", &x) ... fit_fits_read(f, first, bytes, to, err) ...
 *     fit_fits_close(f);
 */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FIT_FITS_AXES = 12, FIT_FITS_WORD = 72 };

struct fit_fits {
    const char *file; /* the caller's */
    int fd;
    uint64_t size;
    char *header; /* cards of this unit, 80 bytes each */
    size_t ncard;
    uint64_t data, bytes, next; /* position and length of the data of this unit; position of the next unit */
    int bitpix, naxis, groups;  /* groups: 1 for random groups, whose axis 1 is left out of axis[] */
    size_t axis[FIT_FITS_AXES]; /* those that are not there: 1 */
    size_t pcount, gcount;
    char extension[FIT_FITS_WORD]; /* "" for the first unit, else "IMAGE", "BINTABLE" ... */
    char name[FIT_FITS_WORD];      /* EXTNAME */
};

enum fit_status fit_fits_open(const char *file, struct fit_fits **f, struct fit_error *err);
void fit_fits_close(struct fit_fits *f);

/* The next unit; *more is 0 after the last one. */
enum fit_status fit_fits_next(struct fit_fits *f, int *more, struct fit_error *err);

/* Value of a keyword; 1, or 0 when it is missing or not a number. The second form appends a number to the keyword:
 * "CRVAL", 3. */
int fit_fits_number(const struct fit_fits *f, const char *keyword, double *value);
int fit_fits_number_of(const struct fit_fits *f, const char *keyword, size_t k, double *value);

/* A text without blanks at its end, truncated to FIT_FITS_WORD - 1 bytes; "" when it is missing. */
void fit_fits_text(const struct fit_fits *f, const char *keyword, char text[FIT_FITS_WORD]);
void fit_fits_text_of(const struct fit_fits *f, const char *keyword, size_t k, char text[FIT_FITS_WORD]);

/* Bytes first .. first + n - 1 of the data of this unit. */
enum fit_status fit_fits_read(const struct fit_fits *f, uint64_t first, size_t n, void *to, struct fit_error *err);

/* n numbers of type bitpix (8 16 32 64 -32 -64) at p, in the byte order of FITS. */
void fit_fits_decode(const unsigned char *p, int bitpix, size_t n, double *value);

/* Bytes of a number of this type. */
static inline size_t fit_fits_item(int bitpix)
{
    return (size_t)(bitpix < 0 ? -bitpix : bitpix) / 8;
}
