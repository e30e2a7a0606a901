/* schedule.c -- see schedule.h.  Geometry: Thompson, Moran & Swenson, Interferometry and Synthesis in Radio Astronomy,
 * 3rd ed. (2017), ch. 4. */
#include "observation/schedule.h"

#include <math.h>
#include <string.h>

#include "math/rng.h"

static const double PI = 3.14159265358979323846;
static const double LIGHT = 299792458.0;     /* m/s */
static const double QUANTISATION = 0.88;     /* two bits */
static const double UT1_UTC = 0.3555;        /* s, on 1 January 2000; on any day to within 1 s */
enum { DAY = 86400 };

/* Mean sidereal time at Greenwich, hours (Aoki et al. 1982, A&A 105, 359); day: a modified Julian date. */
static double sidereal(double day, double seconds)
{
    const double T = (day - 51544.5 + (seconds + UT1_UTC) / DAY) / 36525;
    const double s = 67310.54841 + (876600 * 3600.0 + 8640184.812866) * T + 0.093104 * T * T - 6.2e-6 * T * T * T;
    return fmod(s, DAY) / 3600;
}

/* Positions in a frame whose first axis points to the right ascension of the source. */
static void turn(const struct fit_obs *like, double seconds, double *xyz)
{
    const double angle = (sidereal(like->mjd, seconds) - like->ra) * PI / 12, c = cos(angle), s = sin(angle);
    for (size_t k = 0; k < like->nsite; k++) {
        const double *x = like->site_xyz + 3 * k;
        xyz[3 * k] = c * x[0] - s * x[1];
        xyz[3 * k + 1] = s * x[0] + c * x[1];
        xyz[3 * k + 2] = x[2];
    }
}

static int sees(const struct fit_obs *like, const struct fit_schedule *s, const double *x)
{
    const double dec = like->dec * PI / 180, lowest = s->highest > 0 ? s->lowest : 10,
                 highest = s->highest > 0 ? s->highest : 85;
    const double sine = (x[0] * cos(dec) + x[2] * sin(dec)) / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    return sine > sin(lowest * PI / 180) && sine < sin(highest * PI / 180);
}

static void set_row(struct fit_obs *o, const struct fit_obs *like, size_t i, size_t a, size_t b, const double *xyz)
{
    const double dec = like->dec * PI / 180, lambda = LIGHT / like->frequency;
    const double x = xyz[3 * a] - xyz[3 * b], y = xyz[3 * a + 1] - xyz[3 * b + 1], z = xyz[3 * a + 2] - xyz[3 * b + 2];
    const double sigma =
        sqrt(like->sefd[a] * like->sefd[b] / (2 * like->bandwidth * like->tint)) / (QUANTISATION * sqrt(2));
    o->t1[i] = (int)a;
    o->t2[i] = (int)b;
    o->u[i] = y / lambda;
    o->v[i] = (z * cos(dec) - x * sin(dec)) / lambda;
    for (int s = 0; s < FIT_STOKES; s++)
        if (o->stokes[s].sigma)
            o->stokes[s].sigma[i] = sigma;
}

/* Rows of all times; o NULL: only counts them. */
static size_t rows(struct fit_obs *o, const struct fit_obs *like, const struct fit_schedule *s, double *xyz)
{
    size_t n = 0;
    for (size_t k = 0; (double)k * s->cadence < DAY; k++) {
        turn(like, (double)k * s->cadence, xyz);
        for (size_t a = 0; a < like->nsite; a++)
            for (size_t b = a + 1; b < like->nsite; b++) {
                if (!sees(like, s, xyz + 3 * a) || !sees(like, s, xyz + 3 * b))
                    continue;
                if (o) {
                    o->time[n] = (double)k * s->cadence / 3600;
                    set_row(o, like, n, a, b, xyz);
                }
                n++;
            }
    }
    return n;
}

static enum fit_status check(const struct fit_obs *like, const struct fit_schedule *s, struct fit_error *err)
{
    const char *lacks = !like->site_xyz                 ? "positions of stations (site_xyz)"
                        : !like->sefd                   ? "system equivalent flux densities (site_sefd)"
                        : !(like->frequency > 0)        ? "a frequency (rf)"
                        : !(like->bandwidth > 0)        ? "a bandwidth (bw)"
                        : !(like->tint > 0)             ? "a time of integration (tint)"
                        : !isfinite(like->ra + like->dec) ? "a place of the source (ra_h, dec_deg)"
                        : !isfinite(like->mjd)          ? "a day (mjd)"
                                                        : NULL;
    if (lacks)
        return fit_fail(err, FIT_ERR_DATA, "%s has no %s, which a schedule needs", like->file, lacks);
    if (!(s->cadence >= 0.1 && s->cadence <= DAY))
        return fit_fail(err, FIT_ERR_USAGE, "a cadence of %g s: it must be between 0.1 s and a day", s->cadence);
    return FIT_OK;
}

/* Copies stations and numbers from `like`. */
static void copy_head(struct fit_obs *o, const struct fit_obs *like)
{
    o->object = fit_arena_string(&o->arena, like->object);
    o->nsite = like->nsite;
    o->site = fit_take(&o->arena, like->nsite, sizeof *o->site);
    for (size_t k = 0; o->site && k < like->nsite; k++)
        o->site[k] = fit_arena_string(&o->arena, like->site[k]);
    o->site_xyz = fit_take_copy(&o->arena, like->site_xyz, 3 * like->nsite, sizeof(double));
    o->sefd = fit_take_copy(&o->arena, like->sefd, like->nsite, sizeof(double));
    o->frequency = like->frequency;
    o->bandwidth = like->bandwidth;
    o->ra = like->ra;
    o->dec = like->dec;
    o->mjd = like->mjd;
    o->tint = like->tint;
}

enum fit_status fit_obs_schedule(const struct fit_obs *like, const struct fit_schedule *s, struct fit_obs **obs,
                                 struct fit_error *err)
{
    *obs = NULL;
    const enum fit_status st = check(like, s, err);
    if (st != FIT_OK)
        return st;
    FIT_SCRATCH(a);
    double *xyz = fit_take(&a, 3 * like->nsite, sizeof *xyz);
    const size_t n = xyz ? rows(NULL, like, s, xyz) : 0;
    if (xyz && n == 0)
        return fit_fail(err, FIT_ERR_DATA, "no two stations of %s see the source at the same time", like->file);
    struct fit_obs *o = xyz ? fit_obs_new(like->file, n) : NULL;
    if (!o)
        return fit_no_memory(err, "schedule");
    copy_head(o, like);
    for (int k = 1; k < FIT_STOKES; k++)
        if (like->stokes[k].re)
            fit_obs_add_stokes(o, (enum fit_stokes)k);
    if (o->arena.failed) {
        fit_obs_free(o);
        return fit_no_memory(err, "schedule");
    }
    rows(o, like, s, xyz);
    *obs = o;
    return FIT_OK;
}

void fit_obs_add_noise(struct fit_obs *obs, unsigned long long seed)
{
    for (int s = 0; s < FIT_STOKES; s++) {
        struct fit_visibility *v = &obs->stokes[s];
        for (size_t k = 0; v->re && k < obs->n; k++) {
            double z[2];
            if (!isfinite(v->sigma[k]))
                continue;
            fit_rng_normal(seed, 0x564953u /* "VIS" */ + (unsigned)s, k, z);
            v->re[k] += v->sigma[k] * z[0];
            v->im[k] += v->sigma[k] * z[1];
        }
    }
}
