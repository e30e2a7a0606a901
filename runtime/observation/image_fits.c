/* image_fits.c -- images in FITS files: planes of Stokes parameters with a celestial grid (image.h).
 *
 * The pixel size comes from CDELTi, or from CDi_i of a matrix without other elements (Calabretta & Greisen 2002, A&A
 * 395, 1077). Near the centre the orthographic projection (SIN) is x = (alpha0 - alpha) cos(delta0) up to a sign:
 * its pixels are those of grid.h. */
#include "observation/fits.h"
#include "observation/formats.h"
#include "observation/image.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180)

/* ---- the grid ------------------------------------------------------------------------------------------ */

static int step(const struct fit_fits *f, size_t axis, double *x)
{
    char cd[12];
    snprintf(cd, sizeof cd, "CD%zu_%zu", axis, axis);
    return (fit_fits_number_of(f, "CDELT", axis, x) || fit_fits_number(f, cd, x)) && isfinite(*x) && *x != 0;
}

static int rotated(const struct fit_fits *f)
{
    static const char *const keyword[] = {"CROTA1", "CROTA2", "CD1_2", "CD2_1"};
    double x;
    for (int k = 0; k < 4; k++)
        if (fit_fits_number(f, keyword[k], &x) && x != 0)
            return 1;
    return 0;
}

/* Pixel size; axes whose direction is opposite to that in memory. */
static enum fit_status find_grid(const struct fit_fits *f, struct fit_sky *m, int flip[2], struct fit_error *err)
{
    double dx, dy;
    if (!step(f, 1, &dx) || !step(f, 2, &dy))
        return fit_fail(err, FIT_ERR_DATA, "%s: no size of pixels: CDELT1 and CDELT2 in degrees", f->file);
    if (fabs(fabs(dx / dy) - 1) > 1e-6)
        return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: pixels of %g x %g degrees; square ones are read", f->file,
                        fabs(dx), fabs(dy));
    if (rotated(f))
        return fit_fail(err, FIT_ERR_UNSUPPORTED,
                        "%s: the axes are rotated (CROTA2, CD1_2); they must lie along right ascension and declination",
                        f->file);
    m->pixel = fabs(dx) * DEGREE;
    flip[0] = dx > 0; /* column 0 lies in the West */
    flip[1] = dy > 0; /* row 0 lies in the South */
    return FIT_OK;
}

/* Jy per pixel of a number in the file. */
static enum fit_status find_unit(const struct fit_fits *f, struct fit_sky *m, double *factor, struct fit_error *err)
{
    char unit[FIT_FITS_WORD];
    double major, minor;
    fit_fits_text(f, "BUNIT", unit);
    for (char *c = unit; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    *factor = 1;
    if (!*unit)
        fit_notes_doubt(&m->notes, "%s: no BUNIT; the values are taken for Jy per pixel", f->file);
    if (!*unit || !strcmp(unit, "JY/PIXEL") || !strcmp(unit, "JY PIXEL-1"))
        return FIT_OK;
    if (strcmp(unit, "JY/BEAM") && strcmp(unit, "JY BEAM-1"))
        return fit_fail(err, FIT_ERR_DATA, "%s: BUNIT is %s; JY/PIXEL and JY/BEAM are known", f->file, unit);
    if (!fit_fits_number(f, "BMAJ", &major) || !fit_fits_number(f, "BMIN", &minor) || !(major > 0) || !(minor > 0))
        return fit_fail(err, FIT_ERR_DATA, "%s: JY/BEAM without the beam: BMAJ and BMIN in degrees", f->file);
    *factor = m->pixel * m->pixel / (acos(-1.0) / (4 * log(2)) * major * minor * DEGREE * DEGREE);
    return FIT_OK;
}

/* ---- planes -------------------------------------------------------------------------------------------- */

/* Copies plane `at` of the unit into memory, East first, North first. */
static enum fit_status read_plane(const struct fit_fits *f, struct fit_sky *m, size_t at, enum fit_stokes stokes,
                                  const int flip[2], double factor, struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t item = fit_fits_item(f->bitpix), nx = m->nx, blank = 0;
    unsigned char *bytes = fit_take(&a, nx, item);
    double *row = fit_take(&a, nx, sizeof *row), scale = 1, zero = 0;
    if (a.failed || (!m->stokes[stokes] && !fit_image_add_stokes(m, stokes)))
        return fit_no_memory(err, f->file);
    fit_fits_number(f, "BSCALE", &scale);
    fit_fits_number(f, "BZERO", &zero);
    for (size_t r = 0; r < m->ny; r++) {
        enum fit_status st = fit_fits_read(f, (uint64_t)(at * m->ny + r) * nx * item, nx * item, bytes, err);
        if (st != FIT_OK)
            return st;
        fit_fits_decode(bytes, f->bitpix, nx, row);
        double *to = m->stokes[stokes] + (flip[1] ? m->ny - 1 - r : r) * nx;
        for (size_t c = 0; c < nx; c++) {
            double x = (row[c] * scale + zero) * factor;
            blank += (size_t)!isfinite(x);
            to[flip[0] ? nx - 1 - c : c] = isfinite(x) ? x : 0;
        }
    }
    if (blank)
        fit_notes_doubt(&m->notes, "%s: %zu pixels of Stokes %c have no value and are taken for 0", f->file, blank,
                        "IQUV"[stokes]);
    return FIT_OK;
}

/* The Stokes parameter of plane k of the axis STOKES, which is axis s (0: there is none); -1: another one. */
static int stokes_of(const struct fit_fits *f, int s, size_t k)
{
    double value = 1, pixel = 1, by = 1;
    char text[FIT_FITS_WORD];
    if (!s) {
        fit_fits_text(f, "STOKES", text);
        const char *letter = *text ? strchr("IQUV", *text) : "I";
        return !letter || (*text && text[1]) ? -1 : *text ? (int)(letter - strchr("IQUV", 'I')) : 0;
    }
    fit_fits_number_of(f, "CRVAL", (size_t)s, &value);
    fit_fits_number_of(f, "CRPIX", (size_t)s, &pixel);
    fit_fits_number_of(f, "CDELT", (size_t)s, &by);
    double code = value + ((double)k + 1 - pixel) * by;
    return code == 1 || code == 2 || code == 3 || code == 4 ? (int)code - 1 : -1;
}

/* The axis STOKES if it has more than one plane or identifies its only one; otherwise there is one plane. */
static enum fit_status stokes_axis(const struct fit_fits *f, int *s, struct fit_error *err)
{
    *s = 0;
    for (int k = 3; k <= f->naxis; k++) {
        char type[FIT_FITS_WORD];
        fit_fits_text_of(f, "CTYPE", (size_t)k, type);
        if (!strcmp(type, "STOKES"))
            *s = k;
        else if (f->axis[k - 1] != 1)
            return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: a cube of %zu planes along %s; images have one", f->file,
                            f->axis[k - 1], *type ? type : "an axis");
    }
    return FIT_OK;
}

/* ---- units --------------------------------------------------------------------------------------------- */

static void read_words(const struct fit_fits *f, struct fit_sky *m)
{
    char text[FIT_FITS_WORD];
    double x;
    if (fit_fits_number(f, "OBSRA", &x) || fit_fits_number(f, "CRVAL1", &x))
        m->ra = x / 15;
    if (fit_fits_number(f, "OBSDEC", &x) || fit_fits_number(f, "CRVAL2", &x))
        m->dec = x;
    if (fit_fits_number(f, "MJD", &x) || fit_fits_number(f, "MJD-OBS", &x))
        m->mjd = x;
    if (fit_fits_number(f, "FREQ", &x) || fit_fits_number(f, "RESTFRQ", &x) || fit_fits_number(f, "RESTFREQ", &x))
        m->frequency = x;
    for (int k = 3; k <= f->naxis; k++) {
        fit_fits_text_of(f, "CTYPE", (size_t)k, text);
        if (!strncmp(text, "FREQ", 4) && isnan(m->frequency) && fit_fits_number_of(f, "CRVAL", (size_t)k, &x))
            m->frequency = x;
    }
    fit_fits_text(f, "OBJECT", text);
    m->object = fit_arena_string(&m->arena, text);
}

static enum fit_status new_image(const struct fit_fits *f, struct fit_sky **image, struct fit_error *err)
{
    size_t item = fit_fits_item(f->bitpix);
    if (f->naxis < 2 || f->groups || !f->axis[0] || !f->axis[1])
        return fit_fail(err, FIT_ERR_DATA, "%s: %s", f->file,
                        f->groups ? "these are visibilities, not an image" : "the first unit with data is not an "
                                                                             "image");
    if (f->axis[0] > f->bytes / item || f->axis[1] > f->bytes / item / f->axis[0])
        return fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels do not fit into its data", f->file, f->axis[1],
                        f->axis[0]);
    *image = fit_image_new(f->axis[0], f->axis[1]);
    if (*image)
        read_words(f, *image);
    return *image && !(*image)->arena.failed ? FIT_OK : fit_no_memory(err, f->file);
}

/* The planes of this unit that are Stokes parameters; seen: those that were read. */
static enum fit_status read_unit(const struct fit_fits *f, struct fit_sky **image, int seen[FIT_STOKES],
                                 struct fit_error *err)
{
    int s, flip[2] = {0};
    double factor;
    enum fit_status st = stokes_axis(f, &s, err);
    if (st != FIT_OK || (!*image && (st = new_image(f, image, err)) != FIT_OK) ||
        (st = find_grid(f, *image, flip, err)) != FIT_OK || (st = find_unit(f, *image, &factor, err)) != FIT_OK)
        return st;
    for (size_t k = 0; k < (s ? f->axis[s - 1] : 1); k++) {
        int stokes = stokes_of(f, s, k);
        if (stokes < 0 || seen[stokes])
            continue;
        if ((st = read_plane(f, *image, k, (enum fit_stokes)stokes, flip, factor, err)) != FIT_OK)
            return st;
        seen[stokes] = 1;
    }
    return FIT_OK;
}

/* Another unit that has an image of the same size. */
static int belongs(const struct fit_fits *f, const struct fit_sky *m)
{
    return !strcmp(f->extension, "IMAGE") && f->naxis >= 2 && (!m || (f->axis[0] == m->nx && f->axis[1] == m->ny));
}

enum fit_status fit_image_read_fits(const char *file, struct fit_sky **image, struct fit_error *err)
{
    struct fit_fits *f;
    int more = 1, seen[FIT_STOKES] = {0};
    enum fit_status st = fit_fits_open(file, &f, err);
    if (st != FIT_OK)
        return st;
    for (size_t unit = 0; (st = fit_fits_next(f, &more, err)) == FIT_OK && more; unit++)
        if ((!unit && f->naxis) || belongs(f, *image))
            if ((st = read_unit(f, image, seen, err)) != FIT_OK)
                break;
    fit_fits_close(f);
    if (st == FIT_OK && !seen[FIT_STOKES_I])
        st = fit_fail(err, FIT_ERR_DATA, "%s: no image of Stokes I", file);
    return st;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

struct writing {
    FILE *f;
    size_t n; /* bytes written */
};

static void card(struct writing *w, const char *text)
{
    fprintf(w->f, "%-80.80s", text);
    w->n += 80;
}

static void put_word(struct writing *w, const char *keyword, const char *value)
{
    char text[128];
    snprintf(text, sizeof text, "%-8s= %20s", keyword, value);
    card(w, text);
}

static void put_number(struct writing *w, const char *keyword, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.17G", value);
    if (!strpbrk(number, ".EN"))
        strcat(number, ".0");
    if (isfinite(value))
        put_word(w, keyword, number);
}

static void put_count(struct writing *w, const char *keyword, long value)
{
    char number[24];
    snprintf(number, sizeof number, "%ld", value);
    put_word(w, keyword, number);
}

/* ASCII text in quotes; other characters become '_'. */
static void put_text(struct writing *w, const char *keyword, const char *value)
{
    char text[160], *p = text + snprintf(text, sizeof text, "%-8s= '", keyword), *first = p;
    for (; *value && p - first < 60; value++) {
        if (*value == '\'')
            *p++ = '\'';
        *p++ = *value >= ' ' && *value <= '~' ? *value : '_';
    }
    while (p - first < 8)
        *p++ = ' ';
    strcpy(p, "'");
    card(w, text);
}

static void pad(struct writing *w, char with)
{
    for (; w->n % 2880; w->n++)
        putc(with, w->f);
}

static void put_axis(struct writing *w, int k, const char *type, size_t n, double by, double at)
{
    char keyword[5][9];
    static const char *const word[] = {"CTYPE", "CRPIX", "CDELT", "CRVAL", "CUNIT"};
    for (int i = 0; i < 5; i++)
        snprintf(keyword[i], sizeof *keyword, "%s%d", word[i], k);
    put_text(w, keyword[0], type);
    put_number(w, keyword[1], ((double)n + 1) / 2);
    put_number(w, keyword[2], by);
    put_number(w, keyword[3], isnan(at) ? 0 : at);
    put_text(w, keyword[4], "deg");
}

static void put_header(struct writing *w, const struct fit_sky *m, int stokes)
{
    if (stokes)
        put_text(w, "XTENSION", "IMAGE");
    else
        put_word(w, "SIMPLE", "T");
    put_count(w, "BITPIX", -64);
    put_count(w, "NAXIS", 2);
    put_count(w, "NAXIS1", (long)m->nx);
    put_count(w, "NAXIS2", (long)m->ny);
    if (stokes) {
        put_count(w, "PCOUNT", 0);
        put_count(w, "GCOUNT", 1);
    } else
        put_word(w, "EXTEND", "T");
    put_axis(w, 1, "RA---SIN", m->nx, -m->pixel / DEGREE, m->ra * 15);
    put_axis(w, 2, "DEC--SIN", m->ny, m->pixel / DEGREE, m->dec);
    put_text(w, "BUNIT", "JY/PIXEL");
    put_text(w, "STOKES", (const char[]){"IQUV"[stokes], 0});
    put_text(w, "OBJECT", m->object);
    put_number(w, "OBSRA", m->ra * 15);
    put_number(w, "OBSDEC", m->dec);
    put_number(w, "FREQ", m->frequency);
    put_number(w, "MJD", m->mjd);
    card(w, "END");
    pad(w, ' ');
}

/* Numbers of 8 bytes, most significant first; the southern row first. */
static void put_plane(struct writing *w, const struct fit_sky *m, const double *plane)
{
    for (size_t r = m->ny; r-- > 0;)
        for (size_t c = 0; c < m->nx; c++) {
            uint64_t x;
            memcpy(&x, plane + r * m->nx + c, sizeof x);
            for (int k = 56; k >= 0; k -= 8)
                putc((int)(x >> k & 0xff), w->f);
            w->n += 8;
        }
    pad(w, 0);
}

enum fit_status fit_image_put_fits(const char *file, const struct fit_sky *m, struct fit_error *err)
{
    struct writing w = {.f = fopen(file, "wb")};
    if (!w.f)
        return fit_fail(err, FIT_ERR_IO, "%s: %s", file, strerror(errno));
    for (int s = 0; s < FIT_STOKES; s++)
        if (m->stokes[s]) {
            put_header(&w, m, s);
            put_plane(&w, m, m->stokes[s]);
        }
    int bad = ferror(w.f);
    if (fclose(w.f) || bad)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", file, strerror(errno));
    return FIT_OK;
}
