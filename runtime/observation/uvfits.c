/* uvfits.c -- visibilities from the random groups of a UVFITS file (uvfits.h). */
#include "observation/uvfits.h"

#include "observation/fits.h"
#include "observation/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MJD_0 2400000.5 /* the Julian date of day 0 */

enum { CHUNK = 1 << 20, DATES = 4 };

/* A parameter of a group: value x scale + zero. */
struct parameter {
    int at; /* -1: not there */
    double scale, zero;
};

struct axes {
    size_t n, stride; /* stride of the data of a group, in elements */
};

struct reading {
    struct fit_fits *f;
    struct fit_obs *obs;
    struct fit_uvfits_tables tables;
    struct parameter u, v, baseline, a, b, time, date[DATES];
    int wavelengths; /* u and v are, else seconds */
    double mjd_zero; /* sum of the zeros of dates, minus MJD_0 */
    struct axes part, stokes, channel, band;
    int base, plane[4];                /* the code of correlation 0 (-1, -5, 1); the planes of correlations, -1: none */
    size_t size;                       /* numbers of a group */
    size_t rows, alone, flagged, half; /* groups kept; autocorrelations; without data; with one parallel hand */
    double day;                        /* the first one, MJD */
};

/* ---- contents of a group ---------------------------------------------------------------------------------- */

static void find_parameter(struct reading *r, size_t k, struct parameter *p)
{
    if (p->at >= 0)
        return;
    *p = (struct parameter){(int)k - 1, 1, 0};
    fit_fits_number_of(r->f, "PSCAL", k, &p->scale);
    fit_fits_number_of(r->f, "PZERO", k, &p->zero);
}

static int starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static void find_date(struct reading *r, size_t k)
{
    int d = 0;
    while (d < DATES - 1 && r->date[d].at >= 0)
        d++;
    find_parameter(r, k, &r->date[d]);
}

static enum fit_status find_parameters(struct reading *r, struct fit_error *err)
{
    struct parameter *all[] = {&r->u,    &r->v,   &r->baseline, &r->a,       &r->b,
                               &r->time, r->date, r->date + 1,  r->date + 2, r->date + 3};
    static const char *const name[] = {"UU", "VV", "BASELINE", "ANTENNA1", "ANTENNA2", "INTTIM"};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        all[k]->at = -1;
    for (size_t k = 1; k <= r->f->pcount && k <= 999; k++) {
        char type[FIT_FITS_WORD];
        fit_fits_text_of(r->f, "PTYPE", k, type);
        for (size_t j = 0; j < 6; j++)
            if (j < 2 ? starts(type, name[j]) : !strcmp(type, name[j]))
                find_parameter(r, k, all[j]);
        r->wavelengths |= starts(type, "UU-L");
        if (starts(type, "DATE") || starts(type, "_DATE"))
            find_date(r, k);
    }
    r->mjd_zero = r->date[0].zero - MJD_0;
    for (int d = 1; d < DATES; d++)
        r->mjd_zero += r->date[d].at < 0 ? 0 : r->date[d].zero;
    if (r->u.at < 0 || r->v.at < 0 || r->date[0].at < 0 || (r->baseline.at < 0 && (r->a.at < 0 || r->b.at < 0)))
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: a group has no parameters UU, VV, DATE and BASELINE (or ANTENNA1, ANTENNA2)", r->f->file);
    return FIT_OK;
}

/* Codes of the planes of the axis STOKES, file axis k. */
static enum fit_status find_correlations(struct reading *r, size_t k, struct fit_error *err)
{
    double value = 0, pixel = 1, by = 1;
    fit_fits_number_of(r->f, "CRVAL", k, &value);
    fit_fits_number_of(r->f, "CRPIX", k, &pixel);
    fit_fits_number_of(r->f, "CDELT", k, &by);
    for (int c = 0; c < 4; c++)
        r->plane[c] = -1;
    for (size_t j = 0; j < r->stokes.n; j++) {
        double code = value + ((double)j + 1 - pixel) * by;
        int base = code >= 1 && code <= 4 ? 1 : code <= -1 && code >= -4 ? -1 : code <= -5 && code >= -8 ? -5 : 0;
        int c = base ? abs((int)code - base) : 0;
        if (!base || code != floor(code) || (r->base && r->base != base) || r->plane[c] >= 0)
            return fit_fail(
                err, FIT_ERR_UNSUPPORTED,
                "%s: polarisation number %g on the axis STOKES; known are 1 to 4 (I Q U V), -1 to -4 (RR LL RL LR) "
                "and -5 to -8 (XX YY XY YX)",
                r->f->file, code);
        r->base = base;
        r->plane[c] = (int)j;
    }
    return FIT_OK;
}

static enum fit_status find_axes(struct reading *r, struct fit_error *err)
{
    size_t stride = 1, stokes = 0;
    r->part = r->stokes = r->channel = r->band = (struct axes){1, 0};
    for (size_t k = 0; k < (size_t)r->f->naxis; stride *= r->f->axis[k], k++) {
        char type[FIT_FITS_WORD];
        struct axes a = {r->f->axis[k], stride}, *to = NULL;
        double x;
        fit_fits_text_of(r->f, "CTYPE", k + 2, type); /* axis 1 is that of groups */
        if (!strcmp(type, "COMPLEX"))
            to = &r->part;
        else if (!strcmp(type, "STOKES")) {
            to = &r->stokes;
            stokes = k + 2;
        } else if (!strcmp(type, "FREQ"))
            to = &r->channel;
        else if (!strcmp(type, "IF"))
            to = &r->band;
        else if (a.n != 1)
            return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: %zu elements along %s", r->f->file, a.n,
                            *type ? type : "an axis");
        if (to)
            *to = a;
        if (fit_fits_number_of(r->f, "CRVAL", k + 2, &x) && (!strcmp(type, "RA") || !strcmp(type, "DEC")))
            *(type[0] == 'R' ? &r->obs->ra : &r->obs->dec) = type[0] == 'R' ? x / 15 : x;
    }
    r->size = r->f->pcount + stride;
    if (r->part.n != 3 || !stokes || !r->stokes.n || !r->channel.n || !r->band.n)
        return fit_fail(err, r->part.n < 3 ? FIT_ERR_UNSUPPORTED : FIT_ERR_DATA,
                        "%s: visibilities need axes COMPLEX (real, imaginary, weight: 3, here %zu) and STOKES",
                        r->f->file, r->part.n);
    return find_correlations(r, stokes, err);
}

/* Mean frequency and bandwidth, from the header and the table of IFs. */
static enum fit_status find_frequency(struct reading *r, struct fit_error *err)
{
    double value = NAN, pixel = 1, by = NAN;
    for (size_t k = 2; k < FIT_FITS_AXES + 2; k++) {
        char type[FIT_FITS_WORD];
        fit_fits_text_of(r->f, "CTYPE", k, type);
        if (strcmp(type, "FREQ"))
            continue;
        fit_fits_number_of(r->f, "CRVAL", k, &value);
        fit_fits_number_of(r->f, "CRPIX", k, &pixel);
        fit_fits_number_of(r->f, "CDELT", k, &by);
    }
    double n = (double)r->channel.n, offset = isnan(r->tables.offset) ? 0 : r->tables.offset;
    double middle = r->channel.n == 1 && isnan(by) ? 0 : ((n + 1) / 2 - pixel) * by;
    r->obs->frequency = value + middle + offset;
    r->obs->bandwidth = isnan(r->tables.width) ? fabs(by) * n * (double)r->band.n : r->tables.width;
    if (!(r->obs->frequency > 0) || !isfinite(r->obs->frequency))
        return fit_fail(err, FIT_ERR_DATA, "%s: no frequency: CRVAL of the axis FREQ in Hz", r->f->file);
    if (r->channel.n * r->band.n > 1)
        fit_notes_add(&r->obs->notes, "%s: %zu channels of %zu IFs are averaged, baselines are those of %.6g GHz",
                      r->f->file, r->channel.n, r->band.n, r->obs->frequency / 1e9);
    return FIT_OK;
}

/* ---- groups ---------------------------------------------------------------------------------------------- */

static double value(const struct parameter *p, const double *x)
{
    return p->at < 0 ? 0 : x[p->at] * p->scale + p->zero;
}

static int station(const struct reading *r, double number)
{
    return number >= 0 && number <= FIT_UVFITS_STATIONS ? r->tables.index[(size_t)number] : -1;
}

static enum fit_status read_stations(const struct reading *r, const double *x, size_t row, int *t1, int *t2,
                                     struct fit_error *err)
{
    double a = value(&r->a, x), b = value(&r->b, x);
    if (r->baseline.at >= 0) {
        double code = value(&r->baseline, x), whole = floor(code + 0.005); /* hundredths: the subarray */
        double by = whole > 65536 ? 2048 : 256, rest = whole > 65536 ? whole - 65536 : whole;
        a = floor(rest / by);
        b = rest - a * by;
    }
    *t1 = station(r, a);
    *t2 = station(r, b);
    if (*t1 >= 0 && *t2 >= 0)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_DATA, "%s: group %zu is of stations %g and %g; AIPS AN has no station %g", r->f->file,
                    row + 1, a, b, *t1 < 0 ? a : b);
}

/* The weighted mean of a correlation over channels and IFs. */
static struct fit_correlation average(const struct reading *r, const double *data, int plane)
{
    double re = 0, im = 0, sum = 0;
    for (size_t k = 0; plane >= 0 && k < r->band.n * r->channel.n; k++) {
        const double *p = data + (size_t)plane * r->stokes.stride + k / r->channel.n * r->band.stride +
                          k % r->channel.n * r->channel.stride;
        double w = p[2 * r->part.stride], x = p[0], y = p[r->part.stride];
        if (!(w > 0) || !isfinite(w) || !isfinite(x) || !isfinite(y))
            continue;
        re += w * x;
        im += w * y;
        sum += w;
    }
    struct fit_correlation c = {re / sum, im / sum, 1 / sqrt(sum)};
    if (!(sum > 0) || !isfinite(c.re) || !isfinite(c.im) || !(c.sigma > 0))
        c = (struct fit_correlation){NAN, NAN, INFINITY};
    return c;
}

/* Stokes parameters of a group into the row; 1 when one of them was measured. */
static int put_stokes(struct reading *r, const double *data, size_t row)
{
    struct fit_correlation c[4], s[4];
    int measured = 0;
    for (int k = 0; k < 4; k++)
        c[k] = average(r, data, r->plane[k]);
    fit_uvfits_stokes(r->base, c, s);
    for (int k = 0; k < FIT_STOKES; k++) {
        struct fit_visibility *v = &r->obs->stokes[k];
        if (!v->re)
            continue;
        int good = isfinite(s[k].sigma) != 0;
        measured |= good;
        v->re[row] = good ? s[k].re : 0;
        v->im[row] = good ? s[k].im : 0;
        v->sigma[row] = s[k].sigma;
    }
    r->half += r->base < 0 && isfinite(s[0].sigma) && (!isfinite(c[0].sigma) || !isfinite(c[1].sigma));
    return measured;
}

static enum fit_status put_group(struct reading *r, const double *x, size_t group, struct fit_error *err)
{
    struct fit_obs *o = r->obs;
    size_t row = r->rows;
    double unit = r->wavelengths ? 1 : o->frequency, mjd = r->mjd_zero;
    enum fit_status st = read_stations(r, x, group, &o->t1[row], &o->t2[row], err);
    if (st != FIT_OK)
        return st;
    if (o->t1[row] == o->t2[row]) {
        r->alone++;
        return FIT_OK;
    }
    for (int d = 0; d < DATES; d++)
        mjd += r->date[d].at < 0 ? 0 : x[r->date[d].at] * r->date[d].scale;
    o->u[row] = value(&r->u, x) * unit;
    o->v[row] = value(&r->v, x) * unit;
    o->time[row] = mjd; /* days; hours when all rows are there */
    if (!isfinite(mjd) || fabs(mjd) > 1e7)
        return fit_fail(err, FIT_ERR_DATA, "%s: group %zu has the date %g (MJD)", r->f->file, group + 1, mjd);
    double seconds = value(&r->time, x);
    if (isnan(o->tint) && seconds > 0)
        o->tint = seconds;
    if (put_stokes(r, x + r->f->pcount, row))
        r->rows++;
    else
        r->flagged++;
    return FIT_OK;
}

static enum fit_status read_groups(struct reading *r, struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t bytes = r->size * fit_fits_item(r->f->bitpix), chunk = CHUNK / bytes + 1;
    if (chunk > r->f->gcount)
        chunk = r->f->gcount;
    unsigned char *buffer = fit_take(&a, chunk, bytes);
    double *x = fit_take(&a, r->size, sizeof *x), scale = 1, zero = 0;
    if (a.failed)
        return fit_no_memory(err, r->f->file);
    fit_fits_number(r->f, "BSCALE", &scale);
    fit_fits_number(r->f, "BZERO", &zero);
    for (size_t g = 0; g < r->f->gcount; g++) {
        size_t k = g % chunk, left = r->f->gcount - g;
        enum fit_status st = FIT_OK;
        if (!k)
            st = fit_fits_read(r->f, (uint64_t)g * bytes, (left < chunk ? left : chunk) * bytes, buffer, err);
        if (st != FIT_OK)
            return st;
        fit_fits_decode(buffer + k * bytes, r->f->bitpix, r->size, x);
        for (size_t j = r->f->pcount; j < r->size; j++)
            x[j] = x[j] * scale + zero;
        if ((st = put_group(r, x, g, err)) != FIT_OK)
            return st;
    }
    return FIT_OK;
}

/* ---- the whole file -------------------------------------------------------------------------------------- */

/* Finishes the kept rows; days become hours since 0h of the first day. */
static void finish(struct reading *r)
{
    struct fit_obs *o = r->obs;
    double first = r->rows ? o->time[0] : 0;
    o->n = r->rows;
    for (size_t i = 0; i < o->n; i++)
        first = fmin(first, o->time[i]);
    o->mjd = floor(first);
    for (size_t i = 0; i < o->n; i++)
        o->time[i] = (o->time[i] - o->mjd) * 24;
    if (r->alone)
        fit_notes_add(&o->notes, "%s: %zu groups of a station with itself are left out", o->file, r->alone);
    if (r->flagged)
        fit_notes_add(&o->notes, "%s: %zu groups without a positive weight are left out", o->file, r->flagged);
    if (r->half)
        fit_notes_add(&o->notes, "%s: in %zu groups one parallel hand was measured: it is taken for Stokes I", o->file,
                      r->half);
    if (r->tables.arrays > 1)
        fit_notes_doubt(&o->notes, "%s: %d tables of antennas; the first is taken for all", o->file, r->tables.arrays);
}

/* The Stokes parameters that follow from the correlations. */
static int has_stokes(const struct reading *r, int s)
{
    if (r->base == 1)
        return r->plane[s] >= 0;
    int parallel = r->plane[0] >= 0 && r->plane[1] >= 0, crossed = r->plane[2] >= 0 && r->plane[3] >= 0;
    int of_parallel = r->base == -5 ? FIT_STOKES_Q : FIT_STOKES_V;
    return s == FIT_STOKES_I ? r->plane[0] >= 0 || r->plane[1] >= 0 : s == of_parallel ? parallel : crossed;
}

static enum fit_status read_data(struct reading *r, struct fit_error *err)
{
    char text[FIT_FITS_WORD];
    enum fit_status st = FIT_OK;
    if ((st = find_parameters(r, err)) != FIT_OK || (st = find_axes(r, err)) != FIT_OK ||
        (st = find_frequency(r, err)) != FIT_OK)
        return st;
    if (!has_stokes(r, FIT_STOKES_I))
        return fit_fail(err, FIT_ERR_DATA, "%s: no Stokes I: neither I nor RR, LL nor XX, YY", r->f->file);
    for (int s = 1; s < FIT_STOKES; s++)
        if (has_stokes(r, s) && !fit_obs_add_stokes(r->obs, (enum fit_stokes)s))
            return fit_no_memory(err, r->f->file);
    fit_fits_text(r->f, "OBJECT", text);
    r->obs->object = fit_arena_string(&r->obs->arena, text);
    if ((st = read_groups(r, err)) != FIT_OK)
        return st;
    finish(r);
    return r->obs->arena.failed ? fit_no_memory(err, r->f->file) : fit_obs_check(r->obs, err);
}

/* Tables stand after the data, but are read first. */
static enum fit_status read_tables(struct reading *r, struct fit_error *err)
{
    int more;
    enum fit_status st;
    while ((st = fit_fits_next(r->f, &more, err)) == FIT_OK && more)
        if ((st = fit_uvfits_table(r->f, &r->tables, r->obs, err)) != FIT_OK)
            return st;
    if (st == FIT_OK && !r->tables.index)
        return fit_fail(err, FIT_ERR_DATA, "%s: no table AIPS AN: which stations there are is not known", r->f->file);
    return st;
}

enum fit_status fit_obs_read_uvfits(const char *file, struct fit_obs **obs, struct fit_error *err)
{
    struct reading r = {.tables = {.offset = NAN, .width = NAN}};
    int more;
    *obs = NULL;
    enum fit_status st = fit_fits_open(file, &r.f, err);
    if (st != FIT_OK)
        return st;
    if ((st = fit_fits_next(r.f, &more, err)) == FIT_OK && (!r.f->groups || !r.f->bytes))
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s", file,
                      r.f->groups ? "has no group" : "is FITS, but holds no visibilities (random groups)");
    if (st == FIT_OK) {
        *obs = r.obs = fit_obs_new(file, r.f->gcount);
        st = r.obs ? read_tables(&r, err) : fit_no_memory(err, file);
    }
    if (st == FIT_OK) {
        r.f->next = 0;
        st = fit_fits_next(r.f, &more, err);
    }
    if (st == FIT_OK)
        st = read_data(&r, err);
    fit_fits_close(r.f);
    if (st != FIT_OK) {
        fit_obs_free(*obs);
        *obs = NULL;
    }
    return st;
}
