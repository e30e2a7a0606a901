/* uvfits_tables.c -- stations and frequencies of UVFITS files; Stokes parameters of correlations (uvfits.h). */
#include "observation/uvfits.h"

#include "observation/fits_table.h"

#include <math.h>
#include <string.h>

/* ---- stations ------------------------------------------------------------------------------------------ */

/* A name that can be an element of a comma-separated list. */
static char *site_name(struct fit_arena *a, const char *text)
{
    char *name = fit_arena_string(a, *text ? text : "?");
    for (char *c = name; c && *c; c++)
        if (*c == ',' || *c <= ' ' || *c > '~')
            *c = '_';
    return name;
}

struct columns {
    struct fit_fits_column name, number, place;
    int has_place;
};

static void read_station(const struct fit_fits *f, const struct columns *c, const unsigned char *row, size_t k,
                         struct fit_uvfits_tables *t, struct fit_obs *obs)
{
    char text[FIT_FITS_WORD];
    static const char *const centre[] = {"ARRAYX", "ARRAYY", "ARRAYZ"};
    double number = fit_fits_cell(&c->number, row, 0, (double)k + 1);
    fit_fits_cell_text(&c->name, row, text);
    obs->site[k] = site_name(&obs->arena, text);
    for (size_t x = 0; x < 3; x++) {
        double at = 0;
        fit_fits_number(f, centre[x], &at);
        obs->site_xyz[3 * k + x] = c->has_place ? at + fit_fits_cell(&c->place, row, x, NAN) : NAN;
    }
    if (number >= 0 && number <= FIT_UVFITS_STATIONS)
        t->index[(size_t)number] = (int)k;
}

static enum fit_status read_stations(const struct fit_fits *f, struct fit_uvfits_tables *t, struct fit_obs *obs,
                                     struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct columns c;
    size_t size = f->axis[0], n = f->axis[1];
    if (!fit_fits_column(f, "ANNAME", &c.name) || !fit_fits_column(f, "NOSTA", &c.number))
        return fit_fail(err, FIT_ERR_DATA, "%s: AIPS AN has no columns ANNAME and NOSTA", f->file);
    c.has_place = fit_fits_column(f, "STABXYZ", &c.place);
    if (n > FIT_UVFITS_STATIONS)
        return fit_fail(err, FIT_ERR_DATA, "%s: AIPS AN has %zu stations; at most %d", f->file, n, FIT_UVFITS_STATIONS);
    unsigned char *row = fit_take(&a, size, 1);
    obs->nsite = n;
    obs->site = fit_take(&obs->arena, n, sizeof *obs->site);
    obs->site_xyz = fit_take(&obs->arena, 3 * n, sizeof *obs->site_xyz);
    t->index = fit_take(&obs->arena, FIT_UVFITS_STATIONS + 1, sizeof *t->index);
    if (a.failed || obs->arena.failed)
        return fit_no_memory(err, f->file);
    for (int k = 0; k <= FIT_UVFITS_STATIONS; k++)
        t->index[k] = -1;
    for (size_t k = 0; k < n; k++) {
        enum fit_status st = fit_fits_read(f, (uint64_t)k * size, size, row, err);
        if (st != FIT_OK)
            return st;
        read_station(f, &c, row, k, t, obs);
    }
    return obs->arena.failed ? fit_no_memory(err, f->file) : FIT_OK;
}

/* ---- frequencies --------------------------------------------------------------------------------------- */

/* Mean offset and total width of the IFs of the first row. */
static enum fit_status read_frequencies(const struct fit_fits *f, struct fit_uvfits_tables *t, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_fits_column offset, width;
    unsigned char *row = fit_take(&a, f->axis[0], 1);
    if (!row)
        return fit_no_memory(err, f->file);
    enum fit_status st = f->axis[1] ? fit_fits_read(f, 0, f->axis[0], row, err) : FIT_OK;
    if (st != FIT_OK || !f->axis[1] || !fit_fits_column(f, "IF FREQ", &offset) || !offset.repeat)
        return st;
    t->offset = t->width = 0;
    int has_width = fit_fits_column(f, "TOTAL BANDWIDTH", &width);
    for (size_t k = 0; k < offset.repeat; k++) {
        t->offset += fit_fits_cell(&offset, row, k, NAN) / (double)offset.repeat;
        t->width += has_width ? fabs(fit_fits_cell(&width, row, k, NAN)) : NAN;
    }
    return FIT_OK;
}

enum fit_status fit_uvfits_table(const struct fit_fits *f, struct fit_uvfits_tables *t, struct fit_obs *obs,
                                 struct fit_error *err)
{
    if (strcmp(f->extension, "BINTABLE") || f->naxis != 2 || f->bitpix != 8)
        return FIT_OK;
    if (!strcmp(f->name, "AIPS AN"))
        return t->arrays++ ? FIT_OK : read_stations(f, t, obs, err);
    return strcmp(f->name, "AIPS FQ") || !isnan(t->offset) ? FIT_OK : read_frequencies(f, t, err);
}

/* ---- Stokes parameters --------------------------------------------------------------------------------- */

/* factor (a + sign b) / 2; factor 1, or 1/i. */
static struct fit_correlation half(struct fit_correlation a, struct fit_correlation b, double sign, int over_i)
{
    struct fit_correlation s = {NAN, NAN, INFINITY};
    if (!isfinite(a.sigma) || !isfinite(b.sigma))
        return s;
    double re = (a.re + sign * b.re) / 2, im = (a.im + sign * b.im) / 2;
    s.re = over_i ? im : re;
    s.im = over_i ? -re : im;
    s.sigma = hypot(a.sigma, b.sigma) / 2;
    return s;
}

void fit_uvfits_stokes(int base, const struct fit_correlation c[4], struct fit_correlation s[4])
{
    if (base == 1) {
        memcpy(s, c, 4 * sizeof *s);
        return;
    }
    int linear = base == -5; /* parallel hands beside I; crossed hands */
    s[FIT_STOKES_I] = half(c[0], c[1], 1, 0);
    s[linear ? FIT_STOKES_Q : FIT_STOKES_V] = half(c[0], c[1], -1, 0);
    s[linear ? FIT_STOKES_U : FIT_STOKES_Q] = half(c[2], c[3], 1, 0);
    s[linear ? FIT_STOKES_V : FIT_STOKES_U] = half(c[2], c[3], -1, 1);
    if (!isfinite(s[FIT_STOKES_I].sigma))
        s[FIT_STOKES_I] = isfinite(c[0].sigma) ? c[0] : c[1];
}
