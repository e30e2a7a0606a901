/* contin_words.c -- the options of `homodyne contin`, with their units. */
#include "frontend/contin/contin_front.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BOLTZMANN = 1.380649e-23; /* J/K, exact (SI, 2019) */
static const double PI = 3.14159265358979323846;

static const struct {
    const char *key, *name, *unit;
} axes[] = {{"rate", "decay rate", "1/s"},
            {"diffusion", "diffusion coefficient", "angstrom^2/s"},
            {"radius", "hydrodynamic radius", "nm"}};

const char *contin_axis_key(enum contin_axis axis)
{
    return axes[axis].key;
}

const char *contin_axis_name(enum contin_axis axis)
{
    return axes[axis].name;
}

const char *contin_axis_unit(enum contin_axis axis)
{
    return axes[axis].unit;
}

/* Stokes-Einstein: R = k T / (6 pi eta D); D in angstrom^2/s, R in nm: 1e20 angstrom^2 in m^2, 1e9 nm in m. */
double contin_show(const struct contin_words *w, double u)
{
    return w->axis == CONTIN_RADIUS ? BOLTZMANN * w->temperature / (6 * PI * w->viscosity * (u * 1e-20)) * 1e9 : u;
}

static enum fit_status quantity(const char *option, const char *text, const char *unit, double *value,
                                struct fit_error *err)
{
    const enum fit_quantity kind = fit_quantity_parse(text, unit, value);
    if (kind != FIT_QUANTITY_BARE && kind != FIT_QUANTITY_CONVERTED)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' %s; give a number with a unit, or one in %s", option, text,
                        fit_quantity_why(kind), unit);
    if (!isfinite(*value) || !(*value > 0))
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not above 0", option, text);
    return FIT_OK;
}

/* An option with one quantity; NaN when it was not given. */
static enum fit_status one(const struct front_args *a, const char *option, const char *unit, double *value,
                           struct fit_error *err)
{
    const char *text = option_value(&a->own, option);
    *value = NAN;
    return text ? quantity(option, text, unit, value, err) : FIT_OK;
}

/* "A,B,C" or "A:B": *n pieces into value; most: room. */
static enum fit_status several(const char *option, const char *text, const char *unit, char between, size_t most,
                               double *value, size_t *n, struct fit_error *err)
{
    char piece[80];
    *n = 0;
    for (const char *p = text; p; *n += 1) {
        const char *end = strchr(p, between);
        const size_t length = end ? (size_t)(end - p) : strlen(p);
        if (*n == most || length >= sizeof piece)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%.60s' has more than %zu parts", option, text, most);
        memcpy(piece, p, length);
        piece[length] = '\0';
        enum fit_status st = quantity(option, piece, unit, &value[*n], err);
        if (st != FIT_OK)
            return st;
        p = end ? end + 1 : NULL;
    }
    return FIT_OK;
}

static enum fit_status range(const struct front_args *a, const char *option, const char *unit, double value[2],
                             struct fit_error *err)
{
    const char *text = option_value(&a->own, option);
    size_t n = 0;
    value[0] = value[1] = NAN;
    enum fit_status st = text ? several(option, text, unit, ':', 2, value, &n, err) : FIT_OK;
    if (st == FIT_OK && text && (n != 2 || !(value[0] < value[1])))
        st = fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not LOW:HIGH, in %s", option, text, unit);
    return st;
}

/* q = 4 pi n sin(theta/2) / wavelength */
static enum fit_status angles(const struct front_args *a, struct contin_words *w, struct fit_error *err)
{
    double wavelength, index = 1, theta[CONTIN_CURVES];
    const char *text = option_value(&a->own, "angle"), *n = option_value(&a->own, "index");
    enum fit_status st = one(a, "wavelength", "angstrom", &wavelength, err);
    if (st != FIT_OK)
        return st;
    if (n && (!fit_number_parse(n, &index) || !(index > 0) || !isfinite(index)))
        return fit_fail(err, FIT_ERR_USAGE, "--index: '%s' is not a refractive index", n);
    if (!text != !option_value(&a->own, "wavelength") || (text && w->nq))
        return fit_fail(err, FIT_ERR_USAGE,
                        w->nq ? "--q and --angle: either is enough" : "--angle and --wavelength belong together");
    if (!text)
        return FIT_OK;
    st = several("angle", text, "deg", ',', CONTIN_CURVES, theta, &w->nq, err);
    for (size_t k = 0; st == FIT_OK && k < w->nq; k++) {
        if (theta[k] > 180)
            return fit_fail(err, FIT_ERR_USAGE, "--angle: %g deg is above 180 deg", theta[k]);
        w->q[k] = 4 * PI * index * sin(theta[k] / 360 * PI) / wavelength;
    }
    return st;
}

static enum fit_status choice(const struct front_args *a, const char *option, const char *const *word, int *value,
                              struct fit_error *err)
{
    const char *text = option_value(&a->own, option);
    char list[100] = "";
    for (int k = 0; text && word[k]; k++) {
        if (strcmp(text, word[k]) == 0) {
            *value = k;
            return FIT_OK;
        }
        const size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", word[k]);
    }
    return text ? fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is none of %s", option, text, list) : FIT_OK;
}

static enum fit_status read_smoothing(const struct front_args *a, struct contin_words *w, struct fit_error *err)
{
    const char *text = option_value(&a->own, "smoothing");
    w->smoothing = CONTIN_EVIDENCE;
    if (!text || strcmp(text, "evidence") == 0)
        return FIT_OK;
    w->smoothing = CONTIN_LCURVE;
    if (strcmp(text, "lcurve") == 0)
        return FIT_OK;
    w->smoothing = CONTIN_FIXED;
    if (!fit_number_parse(text, &w->alpha) || !(w->alpha > 0) || !isfinite(w->alpha))
        return fit_fail(err, FIT_ERR_USAGE, "--smoothing: '%s' is none of evidence, lcurve, a number above 0", text);
    return FIT_OK;
}

static enum fit_status read_axis(const struct front_args *a, struct contin_words *w, struct fit_error *err)
{
    static const char *const words[] = {"rate", "diffusion", "radius", NULL};
    const int liquid = !isnan(w->temperature) && !isnan(w->viscosity);
    int axis = liquid ? CONTIN_RADIUS : -1;
    enum fit_status st = choice(a, "axis", words, &axis, err);
    if (st != FIT_OK)
        return st;
    if (isnan(w->temperature) != isnan(w->viscosity))
        return fit_fail(err, FIT_ERR_USAGE, "--temperature and --viscosity belong together");
    if (axis == CONTIN_RADIUS && !liquid)
        return fit_fail(err, FIT_ERR_USAGE, "--axis radius: --temperature and --viscosity are missing");
    w->axis_given = axis >= 0;
    w->axis = axis < 0 ? CONTIN_RATE : (enum contin_axis)axis;
    return FIT_OK;
}

static enum fit_status counts(const struct front_args *a, struct contin_words *w, struct fit_error *err)
{
    w->points = 60;
    w->draws = 1000;
    w->seed = 1;
    enum fit_status st = front_count(a, "points", 8, &w->points, err);
    if (st == FIT_OK && w->points > 400)
        st = fit_fail(err, FIT_ERR_USAGE, "--points: %ld is above 400", w->points);
    if (st == FIT_OK)
        st = front_count(a, "draws", 0, &w->draws, err);
    if (st == FIT_OK && ((w->draws > 0 && w->draws < 100) || w->draws > 100000))
        st = fit_fail(err, FIT_ERR_USAGE, "--draws: %ld is neither 0 nor 100 to 100000", w->draws);
    return st == FIT_OK ? front_count(a, "seed", 0, &w->seed, err) : st;
}

enum fit_status contin_read_words(const struct front_args *a, struct contin_words *w, struct fit_error *err)
{
    static const char *const kinds[] = {"auto", "g1", "g2", NULL}, *const baselines[] = {"fixed", "free", NULL};
    *w = (struct contin_words){.columns = option_value(&a->own, "columns"),
                               .units = option_value(&a->own, "units"),
                               .output = option_value(&a->own, "output"),
                               .table = option_given(&a->own, "table")};
    const char *q = option_value(&a->own, "q");
    enum fit_status st = choice(a, "kind", kinds, &w->power, err);
    if (st == FIT_OK)
        st = choice(a, "baseline", baselines, &w->free_baseline, err);
    if (st == FIT_OK)
        st = read_smoothing(a, w, err);
    if (st == FIT_OK)
        st = counts(a, w, err);
    if (st == FIT_OK && q)
        st = several("q", q, "1/angstrom", ',', CONTIN_CURVES, w->q, &w->nq, err);
    if (st == FIT_OK)
        st = angles(a, w, err);
    if (st == FIT_OK)
        st = one(a, "temperature", "K", &w->temperature, err);
    if (st == FIT_OK)
        st = one(a, "viscosity", "Pa*s", &w->viscosity, err);
    if (st == FIT_OK)
        st = read_axis(a, w, err);
    if (st == FIT_OK)
        st = range(a, "range", contin_axis_unit(w->axis), w->range, err);
    return st == FIT_OK ? range(a, "delays", "s", w->delays, err) : st;
}
