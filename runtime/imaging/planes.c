/* planes.c -- see planes.h. */
#include "imaging/planes.h"

#include <math.h>
#include <string.h>

#include "math/rng.h"

const char *const fit_imaging_free_name[FIT_IMAGING_FREE] = {"x", "x_rho", "phi", "x_psi", "alpha", "beta"};
static const double PI = 3.14159265358979323846;

/* --- unknowns ------------------------------------------------------------------------------------------- */

static const struct fit_array_desc *array_of(const struct fit_imaging *p, const char *name, uint32_t *k)
{
    const struct fit_functional *o = p->bound->o;
    for (*k = 0; *k < o->narray; ++*k)
        if (strcmp(o->array[*k].name, name) == 0)
            return &o->array[*k];
    return NULL;
}

/* The terms that need the array. */
static uint64_t need(const struct fit_imaging *p, const char *name)
{
    uint32_t k;
    const struct fit_array_desc *a = array_of(p, name, &k);
    return a ? a->need : 0;
}

struct solved {
    int I, P, V;
};

static enum fit_status read_mode(const char *text, struct solved *s, struct fit_error *err)
{
    const int Q = strchr(text, 'Q') != NULL, U = strchr(text, 'U') != NULL;
    *s = (struct solved){strchr(text, 'I') != NULL, strchr(text, 'P') || (Q && U), strchr(text, 'V') != NULL};
    if (!*text || text[strspn(text, "IPQUV")] || Q != U)
        return fit_fail(err, FIT_ERR_USAGE, "--solve: '%s' is none of I P V IP IV PV IPV (QU stands for P)", text);
    return FIT_OK;
}

/* The quantities that data terms in use measure. */
static struct solved by_terms(const struct fit_imaging *p)
{
    const struct fit_functional *o = p->bound->o;
    const uint64_t linear = need(p, "Q"), circular = need(p, "V");
    uint64_t data = 0;
    for (uint32_t t = 0; t < o->nterm; t++)
        data |= o->term[t].kind == FIT_TERM_DATA ? p->bound->on & UINT64_C(1) << t : 0;
    return (struct solved){!data || (data & ~(linear | circular)), (data & linear) != 0, (data & circular) != 0};
}

/* --- starts --------------------------------------------------------------------------------------------- */

static double within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* Fractions m, v and the angle phi of the image; a fit starts with a little polarisation if the image has none. */
static void fractions(const struct fit_imaging *p, size_t k, struct solved s, double f[3])
{
    double u[2], *const *stokes = p->image ? p->image->stokes : (double *const[FIT_STOKES]){NULL};
    const double I = stokes[FIT_STOKES_I] ? stokes[FIT_STOKES_I][k] : 0;
    fit_rng_uniform(0, 0x504f4c /* "POL" */, k, u);
    f[0] = s.P ? 0.2 * (1 + 0.01 * u[0]) : 0;
    f[1] = s.P ? 0.01 * u[1] : 0;
    f[2] = s.V ? (s.P ? 0.002 : 0.01) * u[1] : 0;
    if (stokes[FIT_STOKES_Q] && stokes[FIT_STOKES_U]) {
        f[0] = I > 0 ? hypot(stokes[FIT_STOKES_Q][k], stokes[FIT_STOKES_U][k]) / I : 0;
        f[1] = atan2(stokes[FIT_STOKES_U][k], stokes[FIT_STOKES_Q][k]);
    }
    if (stokes[FIT_STOKES_V])
        f[2] = I > 0 ? stokes[FIT_STOKES_V][k] / I : 0;
}

/* The inverse of the model's transformation of x_rho and x_psi. Fractions of 0 and 1 are infinitely far away: a fit
 * starts at some distance from them. */
static void polarisation(struct fit_imaging *p, struct solved s)
{
    const double least = p->fits ? 1e-3 : 1e-14, most = 1 - least;
    for (size_t k = 0; k < p->n; k++) {
        double f[3];
        fractions(p, k, s, f);
        const double m = f[0], v = f[2];
        double rho = m, psi = v;
        if (s.P) {
            rho = s.V ? hypot(m, v) : m / fmax(1 - fabs(v), least);
            rho = tan(PI * (within(rho, least, most) - 0.5)) / 2;
        }
        if (s.V)
            psi = s.P ? v / fmax(m, least) : tan(PI / 2 * within(v / fmax(1 - fabs(m), least), -most, most));
        p->first[FIT_FREE_X_RHO][k] = rho;
        p->first[FIT_FREE_PHI][k] = f[1];
        p->first[FIT_FREE_X_PSI][k] = psi;
    }
}

static enum fit_status intensity(struct fit_imaging *p, struct fit_error *err)
{
    const int is_log = !p->options->no_log;
    for (size_t k = 0; k < p->n; k++) {
        if (is_log && p->mask[k] && !(p->start[k] > 0))
            return fit_fail(
                err, FIT_ERR_DATA,
                "pixel %zu, %zu of the image is %g Jy: ln I needs positive values (--no-log solves for I; a "
                "--prior that is 0 there leaves the pixel out)",
                k / p->grid.nx, k % p->grid.nx, p->start[k]);
        p->first[FIT_FREE_X][k] = !p->mask[k] ? 0 : is_log ? log(p->start[k]) : p->start[k];
    }
    return FIT_OK;
}

/* --- the whole ------------------------------------------------------------------------------------------ */

enum fit_status fit_imaging_prepare(struct fit_imaging *p, struct fit_error *err)
{
    struct solved s = by_terms(p);
    enum fit_status status = p->options->solve ? read_mode(p->options->solve, &s, err) : FIT_OK;
    status = status == FIT_OK ? intensity(p, err) : status;
    if (status != FIT_OK)
        return status;
    polarisation(p, s);
    const int is_free[FIT_IMAGING_FREE] = {s.I, s.P, s.P, s.V, p->order >= 1, p->order >= 2};
    uint32_t k;
    for (int i = 0; status == FIT_OK && i < FIT_IMAGING_FREE; i++)
        if (array_of(p, fit_imaging_free_name[i], &k))
            status = fit_bound_hold(p->bound, fit_imaging_free_name[i], is_free[i] ? NULL : p->first[i], err);
    if (status == FIT_OK && array_of(p, "x_rho", &k)) {
        status = fit_bound_hyper(p->bound, "solve_m", s.P, err);
        status = status == FIT_OK ? fit_bound_hyper(p->bound, "solve_v", s.V, err) : status;
    }
    p->unknowns = fit_bound_unknowns(p->bound);
    if (status == FIT_OK && !p->unknowns)
        status = fit_fail(err, FIT_ERR_USAGE, "no term depends on what is solved for%s%s",
                          p->options->solve ? ": --solve " : "", p->options->solve ? p->options->solve : "");
    return status;
}

void fit_imaging_start(const struct fit_imaging *p, double *x)
{
    for (int i = 0; i < FIT_IMAGING_FREE; i++) {
        const size_t at = fit_bound_place(p->bound, fit_imaging_free_name[i]);
        if (at != FIT_BOUND_NOWHERE)
            memcpy(x + at, p->first[i], p->n * sizeof *x);
    }
}

void fit_imaging_image(const struct fit_imaging *p, const double *x, double *image)
{
    const size_t at = fit_bound_place(p->bound, "x");
    const double *of = at == FIT_BOUND_NOWHERE ? p->first[FIT_FREE_X] : x + at;
    for (size_t k = 0; k < p->n; k++)
        image[k] = !p->mask[k] ? 0 : p->options->no_log ? of[k] : exp(of[k]);
}

size_t fit_imaging_outputs(const struct fit_imaging *p, struct fit_imaging_output output[FIT_IMAGING_OUTPUTS])
{
    static const struct {
        const char *array;
        struct fit_imaging_output output;
    } table[] = {{"Q", {"image_q", FIT_STOKES_Q, NULL, 0}},
                 {"U", {"image_u", FIT_STOKES_U, NULL, 0}},
                 {"V", {"image_v", FIT_STOKES_V, NULL, 0}},
                 {"alpha", {"alpha", -1, NULL, 0}},
                 {"beta", {"beta", -1, NULL, 0}}};
    size_t n = 0;
    fit_bound_settle(p->bound);
    output[n++] = (struct fit_imaging_output){"image", FIT_STOKES_I, NULL, 0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint32_t k;
        const struct fit_array_desc *a = array_of(p, table[i].array, &k);
        if (!a || !(a->need & p->bound->on))
            continue;
        output[n] = table[i].output;
        output[n].array = k;
        output[n++].values = p->bound->array[k];
    }
    return n;
}
