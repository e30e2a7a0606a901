/* closures.c -- data products from an observation: selected rows, added noise, removed rows. */
#include "observation/closures_impl.h"

#include "math/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int nleg, diagonal;
} table[FIT_PRODUCTS] = {
    [FIT_PRODUCT_VIS] = {"vis", 1, 0},
    [FIT_PRODUCT_AMP] = {"amp", 1, 0},
    [FIT_PRODUCT_LOGAMP] = {"logamp", 1, 0},
    [FIT_PRODUCT_BS] = {"bs", 3, 0},
    [FIT_PRODUCT_CPHASE] = {"cphase", 3, 0},
    [FIT_PRODUCT_CPHASE_DIAG] = {"cphase_diag", 3, 1},
    [FIT_PRODUCT_CAMP] = {"camp", 4, 0},
    [FIT_PRODUCT_LOGCAMP] = {"logcamp", 4, 0},
    [FIT_PRODUCT_LOGCAMP_DIAG] = {"logcamp_diag", 4, 1},
    [FIT_PRODUCT_VVIS] = {"vvis", 1, 0},
    [FIT_PRODUCT_PVIS] = {"pvis", 1, 0},
    [FIT_PRODUCT_M] = {"m", 1, 0},
};

const char *fit_product_name(enum fit_product_kind kind)
{
    return table[kind].name;
}

int fit_product_kind(const char *name)
{
    for (int k = 0; k < FIT_PRODUCTS; k++)
        if (!strcmp(name, table[k].name))
            return k;
    return -1;
}

static int is_closure_phase(enum fit_product_kind kind)
{
    return kind == FIT_PRODUCT_CPHASE || kind == FIT_PRODUCT_CPHASE_DIAG;
}

static int is_complex(enum fit_product_kind kind)
{
    return kind == FIT_PRODUCT_VIS || kind == FIT_PRODUCT_BS || kind >= FIT_PRODUCT_VVIS;
}

static int is_linear(enum fit_product_kind kind)
{
    return kind == FIT_PRODUCT_PVIS || kind == FIT_PRODUCT_M;
}

/* ---- storage -------------------------------------------------------------------------------------------- */

struct fit_product *fit_product_new(enum fit_product_kind kind)
{
    struct fit_product *p = calloc(1, sizeof *p);
    if (p) {
        p->kind = kind;
        p->nleg = table[kind].nleg;
    }
    return p;
}

enum fit_status fit_product_take(struct fit_product *p, struct fit_error *err)
{
    FIT_TAKE_DOUBLES(&p->arena, p->n, &p->data, &p->sigma);
    if (is_complex(p->kind))
        p->imag = fit_take(&p->arena, p->n, sizeof *p->imag);
    return p->arena.failed ? fit_no_memory(err, table[p->kind].name) : FIT_OK;
}

void fit_product_free(struct fit_product *p)
{
    if (p)
        fit_arena_free(&p->arena);
    free(p);
}

void fit_product_keep(struct fit_product *p, const unsigned char *keep)
{
    size_t m = 0, blocks = 0, first = 0, leg = (size_t)p->nleg;
    for (size_t k = 0; k < p->nblock; k++) {
        size_t size = p->block[k], left = 0;
        for (size_t i = first; i < first + size; i++)
            left += keep[i];
        first += size;
        if (left)
            p->block[blocks++] = left;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (!keep[i])
            continue;
        memmove(p->leg + m * leg, p->leg + i * leg, leg * sizeof *p->leg);
        p->data[m] = p->data[i];
        p->sigma[m] = p->sigma[i];
        if (p->imag)
            p->imag[m] = p->imag[i];
        m++;
    }
    p->n = m;
    p->nblock = blocks;
}

/* ---- one leg: visibilities and amplitudes ------------------------------------------------------------------ */

/* Twice the square of the level of systematic noise; negative: the baseline is left out. */
static double systematic(const struct fit_obs *obs, const struct fit_product_options *o, size_t row)
{
    if (!o->systematic_site)
        return 2 * o->systematic_noise * o->systematic_noise;
    double a = o->systematic_site[obs->t1[row]], b = o->systematic_site[obs->t2[row]];
    return a < 0 || b < 0 ? -1 : a * a + b * b;
}

/* Row i of the product, from row i of the observation; 1: it is kept. */
static int one_leg(const struct fit_obs *obs, const struct fit_product_options *o, struct fit_product *p, size_t i)
{
    const struct fit_visibility *s = &obs->stokes[o->stokes];
    double a = hypot(s->re[i], s->im[i]), e = s->sigma[i], level = systematic(obs, o, i);
    p->leg[i] = (int32_t)i + 1;
    p->data[i] = s->re[i];
    p->sigma[i] = level > 0 ? sqrt(e * e + level * a * a) : e;
    if (p->imag)
        p->imag[i] = s->im[i];
    else
        p->data[i] = !o->debias ? a : a > e ? sqrt(a * a - e * e) : 0;
    return isfinite(e) && level >= 0 && !(a / e < o->snrcut) && (p->kind != FIT_PRODUCT_LOGAMP || p->data[i] > 0);
}

static enum fit_status make_one_leg(const struct fit_obs *obs, const struct fit_product_options *o,
                                    struct fit_product *p, struct fit_error *err)
{
    FIT_SCRATCH(a);
    unsigned char *keep = fit_take(&a, obs->n, 1);
    p->n = obs->n;
    p->leg = fit_take(&p->arena, p->n, sizeof *p->leg);
    enum fit_status st = fit_product_take(p, err);
    if (st != FIT_OK || !keep)
        return fit_no_memory(err, table[p->kind].name);
    for (size_t i = 0; i < p->n; i++)
        keep[i] = (unsigned char)one_leg(obs, o, p, i);
    fit_product_keep(p, keep);
    return FIT_OK;
}

/* ---- closures ------------------------------------------------------------------------------------------- */

static void usable(const struct fit_obs *obs, const struct fit_product_options *o, enum fit_product_kind kind,
                   unsigned char *use)
{
    double shortest = is_closure_phase(kind) ? o->cp_uv_min : 0;
    for (size_t i = 0; i < obs->n; i++)
        use[i] = isfinite(obs->stokes[o->stokes].sigma[i]) && !(hypot(obs->u[i], obs->v[i]) < shortest);
}

static enum fit_status take_sets(const struct fit_obs *obs, const struct fit_product_options *o, struct fit_product *p,
                                 struct fit_error *err)
{
    FIT_SCRATCH(a);
    unsigned char *use = fit_take(&a, obs->n, 1);
    struct fit_closure_sets sets = {0};
    if (!use)
        return fit_no_memory(err, table[p->kind].name);
    usable(obs, o, p->kind, use);
    enum fit_status st = fit_closure_sets(obs, use, p->nleg, o->maximal, &p->arena, &sets, err);
    p->n = sets.n;
    p->leg = sets.leg;
    p->block = sets.block;
    p->nblock = sets.nblock;
    p->repeated = sets.repeated;
    return st;
}

static enum fit_status make_closures(const struct fit_obs *obs, const struct fit_product_options *o,
                                     struct fit_product *p, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_visibility *s = &obs->stokes[o->stokes];
    enum fit_status st = take_sets(obs, o, p, err);
    double *snr = fit_take(&a, p->n, sizeof *snr);
    unsigned char *keep = fit_take(&a, p->n, 1);
    if (st == FIT_OK)
        st = a.failed ? fit_no_memory(err, table[p->kind].name) : fit_product_take(p, err);
    if (st != FIT_OK || (st = fit_closure_values(s, o, p, snr, err)) != FIT_OK)
        return st;
    for (size_t i = 0; i < p->n; i++)
        keep[i] = !(snr[i] < o->snrcut);
    fit_product_keep(p, keep);
    if (table[p->kind].diagonal)
        st = fit_closure_diagonal(s, o, p, err);
    else
        p->nblock = 0;
    for (size_t i = 0; i < p->n && is_closure_phase(p->kind); i++)
        p->sigma[i] = hypot(p->sigma[i], o->systematic_cphase_noise);
    return st;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

/* Replaces every sigma by the median of all. */
static enum fit_status use_median(struct fit_product *p, struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *sorted = fit_take_copy(&a, p->sigma, p->n, sizeof *sorted);
    if (!sorted)
        return fit_no_memory(err, table[p->kind].name);
    qsort(sorted, p->n, sizeof *sorted, fit_ascending);
    double median = p->n % 2 ? sorted[p->n / 2] : (sorted[p->n / 2 - 1] + sorted[p->n / 2]) / 2;
    for (size_t i = 0; i < p->n; i++)
        p->sigma[i] = median;
    return FIT_OK;
}

static enum fit_status possible(const struct fit_obs *obs, enum fit_product_kind kind,
                                const struct fit_product_options *o, struct fit_error *err)
{
    const char *name = table[kind].name;
    const int linear = is_linear(kind);
    for (int k = 0; k < FIT_STOKES; k++)
        if ((linear ? k == FIT_STOKES_Q || k == FIT_STOKES_U : k == (int)o->stokes) && !obs->stokes[k].re)
            return fit_fail(err, FIT_ERR_DATA, "%s: no visibilities of Stokes %c for %s", obs->file, "IQUV"[k], name);
    if (linear && obs->n > INT32_MAX / 2)
        return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: %zu rows; %s has twice as many", obs->file, obs->n, name);
    if (!obs->time && (table[kind].nleg > 1 || o->systematic_site))
        return fit_fail(err, FIT_ERR_DATA, "%s: %s: time, t1 and t2 of the baselines are not in the file", obs->file,
                        name);
    if (table[kind].diagonal && o->maximal)
        return fit_fail(
            err, FIT_ERR_USAGE,
            "%s of a maximal set: its closures follow from each other, so that their covariance has no inverse; "
            "minimal sets hold the same information",
            name);
    if (obs->n > INT32_MAX - 1)
        return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s: %zu rows; at most %d", obs->file, obs->n, INT32_MAX - 1);
    return FIT_OK;
}

static enum fit_status make(const struct fit_obs *obs, const struct fit_product_options *o, struct fit_product *p,
                            struct fit_error *err)
{
    enum fit_status st = is_linear(p->kind) ? fit_polarised_make(obs, o, p, err)
                         : p->nleg == 1     ? make_one_leg(obs, o, p, err)
                                            : make_closures(obs, o, p, err);
    if (st == FIT_OK && !p->n)
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: no %s is left of %zu visibilities (stations at the same time, snrcut, flags)", obs->file,
                      table[p->kind].name, obs->n);
    return st == FIT_OK && o->uniform ? use_median(p, err) : st;
}

enum fit_status fit_product_make(const struct fit_obs *obs, enum fit_product_kind kind,
                                 const struct fit_product_options *options, struct fit_product **p,
                                 struct fit_error *err)
{
    struct fit_product_options o = *options;
    *p = NULL;
    if (kind == FIT_PRODUCT_VVIS)
        o.stokes = FIT_STOKES_V;
    enum fit_status st = possible(obs, kind, &o, err);
    if (st != FIT_OK)
        return st;
    struct fit_product *made = fit_product_new(kind);
    st = made ? make(obs, &o, made, err) : fit_no_memory(err, table[kind].name);
    if (st == FIT_OK)
        *p = made;
    else
        fit_product_free(made);
    return st;
}
