/* observation.c -- an observation in memory: storage, requirements, its beam, the order of its stations. */
#include "observation/observation.h"

#include "hdf5/reader.h"
#include "observation/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_obs *fit_obs_new(const char *file, size_t n)
{
    struct fit_obs *obs = calloc(1, sizeof *obs);
    if (!obs)
        return NULL;
    struct fit_arena *a = &obs->arena;
    obs->n = n;
    obs->file = fit_arena_string(a, file);
    obs->object = fit_arena_string(a, "");
    FIT_TAKE_DOUBLES(a, n, &obs->time, &obs->u, &obs->v);
    obs->t1 = fit_take(a, n, sizeof *obs->t1);
    obs->t2 = fit_take(a, n, sizeof *obs->t2);
    obs->frequency = obs->bandwidth = obs->ra = obs->dec = obs->mjd = obs->tint = NAN;
    if (!fit_obs_add_stokes(obs, FIT_STOKES_I)) {
        fit_obs_free(obs);
        return NULL;
    }
    return obs;
}

int fit_obs_add_stokes(struct fit_obs *obs, enum fit_stokes stokes)
{
    struct fit_visibility *s = &obs->stokes[stokes];
    FIT_TAKE_DOUBLES(&obs->arena, obs->n, &s->re, &s->im, &s->sigma);
    if (obs->arena.failed)
        return 0;
    for (size_t i = 0; i < obs->n; i++)
        s->sigma[i] = INFINITY;
    return 1;
}

void fit_obs_free(struct fit_obs *obs)
{
    if (!obs)
        return;
    fit_notes_free(&obs->notes);
    fit_arena_free(&obs->arena);
    free(obs);
}

int fit_obs_measured(const struct fit_obs *obs, size_t row)
{
    return isfinite(obs->stokes[FIT_STOKES_I].sigma[row]);
}

double fit_obs_beam(const struct fit_obs *obs)
{
    double longest = 0;
    for (size_t i = 0; i < obs->n; i++)
        if (fit_obs_measured(obs, i))
            longest = fmax(longest, hypot(obs->u[i], obs->v[i]));
    return longest > 0 ? 1 / longest : 0;
}

/* ---- requirements ----------------------------------------------------------------------------- */

static enum fit_status check_stokes(const struct fit_obs *obs, enum fit_stokes stokes, struct fit_error *err)
{
    const struct fit_visibility *s = &obs->stokes[stokes];
    for (size_t i = 0; s->re && i < obs->n; i++) {
        if (!(s->sigma[i] > 0))
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: row %zu: sigma of Stokes %c is %g; a standard deviation is positive, inf where nothing was "
                "measured",
                obs->file, i + 1, "IQUV"[stokes], s -> sigma[i]);
        if (isfinite(s->sigma[i]) && (!isfinite(s->re[i]) || !isfinite(s->im[i])))
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: row %zu: the visibility of Stokes %c is %g%+gi; give sigma = inf where nothing was measured",
                obs->file, i + 1, "IQUV"[stokes], s -> re[i], s -> im[i]);
    }
    return FIT_OK;
}

static enum fit_status check_row(const struct fit_obs *obs, size_t i, struct fit_error *err)
{
    if (!isfinite(obs->u[i]) || !isfinite(obs->v[i]))
        return fit_fail(err, FIT_ERR_DATA, "%s: row %zu: the baseline (u, v) is (%g, %g)", obs->file, i + 1, obs->u[i],
                        obs->v[i]);
    if (!obs->time)
        return FIT_OK;
    if (!isfinite(obs->time[i]))
        return fit_fail(err, FIT_ERR_DATA, "%s: row %zu: the time is %g", obs->file, i + 1, obs->time[i]);
    for (int k = 0; k < 2; k++) {
        int t = k ? obs->t2[i] : obs->t1[i];
        if (t < 0 || (size_t)t >= obs->nsite)
            return fit_fail(err, FIT_ERR_DATA, "%s: row %zu: t%d is station %d, of 0 to %zu", obs->file, i + 1, k + 1,
                            t, obs->nsite - 1);
    }
    if (obs->t1[i] == obs->t2[i])
        return fit_fail(err, FIT_ERR_DATA, "%s: row %zu: station %s with itself is not a baseline", obs->file, i + 1,
                        obs->site[obs->t1[i]]);
    return FIT_OK;
}

enum fit_status fit_obs_check(const struct fit_obs *obs, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (!obs->n)
        return fit_fail(err, FIT_ERR_DATA, "%s: there is no visibility", obs->file);
    for (size_t i = 0; i < obs->n && st == FIT_OK; i++)
        st = check_row(obs, i, err);
    for (int s = 0; s < FIT_STOKES && st == FIT_OK; s++)
        st = check_stokes(obs, (enum fit_stokes)s, err);
    return st;
}

/* ---- the order of stations ------------------------------------------------------------------------ */

enum { MOST_SITES = 4096 }; /* of a table of pairs */

/* before[a m + b] <- 1: a row goes from a to b. */
static void relations(const struct fit_obs *obs, unsigned char *before)
{
    for (size_t i = 0; obs->time && i < obs->n; i++)
        before[(size_t)obs->t1[i] * obs->nsite + (size_t)obs->t2[i]] = 1;
}

/* The first unplaced station of the table without an unplaced station before it; nsite: there is none. */
static size_t next_site(size_t nsite, const unsigned char *before, const unsigned char *placed)
{
    for (size_t b = 0; b < nsite; b++) {
        size_t a = 0;
        while (a < nsite && (placed[a] || !before[a * nsite + b]))
            a++;
        if (!placed[b] && a == nsite)
            return b;
    }
    return nsite;
}

int fit_obs_site_order(const struct fit_obs *obs, size_t *place)
{
    FIT_SCRATCH(a);
    size_t n = obs->nsite, k = 0;
    unsigned char *before = n <= MOST_SITES ? fit_take(&a, n * n, 1) : NULL, *placed = fit_take(&a, n, 1);
    if (before && placed) {
        relations(obs, before);
        for (size_t s; k < n && (s = next_site(n, before, placed)) < n; k++) {
            place[s] = k;
            placed[s] = 1;
        }
    }
    for (size_t s = 0; k < n && s < n; s++)
        place[s] = s;
    return k == n;
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* FILE:/PATH is split if the part before ':' is a file; otherwise all of it is the file. */
char *fit_obs_split(struct fit_arena *a, const char *name, const char **path)
{
    const char *colon = strstr(name, ":/");
    *path = NULL;
    if (!colon || fit_h5_is_hdf5(name))
        return fit_arena_string(a, name);
    *path = colon + 1;
    return fit_arena_copy(a, name, (size_t)(colon - name));
}

enum fit_status fit_obs_read(const char *name, struct fit_obs **obs, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const char *path;
    char *file = fit_obs_split(&a, name, &path);
    *obs = NULL;
    if (!file)
        return fit_no_memory(err, name);
    if (!fit_fits_is_fits(file))
        return fit_obs_read_hdf5(file, path ? path : "/obs", obs, err);
    if (path)
        return fit_fail(err, FIT_ERR_DATA, "%s: a FITS file has no group %s", file, path);
    return fit_obs_read_uvfits(file, obs, err);
}
