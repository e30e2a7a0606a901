/* setup_links.c -- from `ties` and `share` of a configuration to a linkage; see setup.h and linkage.h. */
#include "setup/setup.h"
#include "base/units.h"
#include "model/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Azimuths closer than this, in degrees or relative to the others, are identified by the same number. */
static const double SAME_ANGLE = 0.5, SAME_VALUE = 1e-6;

struct links {
    const struct fit_config *cfg;
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    struct fit_setup *s;
    struct fit_error *err;
    size_t n, ng;
    unsigned char *tied;
    double *tie;
    const char **text;
    size_t *share; /* n x ng: nonlinear ones, then linear ones */
    size_t harmonics;
};

static enum fit_status at_fault(const struct links *l, struct fit_origin from, const char *name, const char *what)
{
    char where[160];
    fit_origin_text(l->cfg, from, where, sizeof where);
    return fit_fail(l->err, FIT_ERR_CONFIG, "%s: share of %s: %s", where, name, what);
}

/* ---- values of groups ---------------------------------------------------------------------------------------- */

static double distance(const struct links *l, double x, size_t g)
{
    double c = l->ds->layout.coord[0][g];
    const double turn = fit_units_turn(l->k->axis[0].unit);
    if (l->k->space == FIT_PAIRS)
        return fabs(remainder(x - c, turn)) / (SAME_ANGLE * turn / 360);
    return fabs(x - c) / fmax(SAME_VALUE * fabs(c), 1e-300);
}

static enum fit_status sets(const struct links *l, size_t k, size_t *number)
{
    const struct fit_config_share *share = &l->cfg->param[k].share;
    const char *name = l->cfg->param[k].declared->name;
    char text[200];
    for (size_t g = 0; g < l->ng; g++)
        number[g] = SIZE_MAX;
    for (size_t s = 0; s < share->nset; s++)
        for (size_t e = 0; e < share->set[s].n; e++) {
            double x = share->set[s].value[e];
            size_t best = 0, found = 0;
            for (size_t g = 0; g < l->ng; g++) {
                best = distance(l, x, g) < distance(l, x, best) ? g : best;
                if (distance(l, x, g) <= 1) { /* an azimuth may have been measured more than once */
                    found++;
                    if (number[g] != SIZE_MAX && number[g] != s) {
                        snprintf(text, sizeof text, "%g stands in two sets", x);
                        return at_fault(l, share->from, name, text);
                    }
                    number[g] = s;
                }
            }
            if (!found) {
                snprintf(text, sizeof text, "there is no %s %g; the nearest is %g", l->k->axis[0].name, x,
                         l->ds->layout.coord[0][best]);
                return at_fault(l, share->from, name, text);
            }
        }
    for (size_t g = 0; g < l->ng; g++)
        if (number[g] == SIZE_MAX) {
            snprintf(text, sizeof text, "%s %g stands in no set", l->k->axis[0].name, l->ds->layout.coord[0][g]);
            return at_fault(l, share->from, name, text);
        }
    return FIT_OK;
}

/* Indices of the values of parameter k in the groups. */
static enum fit_status share_one(const struct links *l, size_t k, int shared, size_t *number)
{
    const struct fit_config_share *share = &l->cfg->param[k].share;
    int linear = k >= l->k->nparam;
    int own = fit_kernel_unknown(l->k, k)->over >= 0;
    enum fit_share_kind kind = share->kind;
    const struct fit_dataset_files *files = l->ds->files;
    if (kind == FIT_SHARE_FILE && !files)
        return at_fault(l, share->from, l->cfg->param[k].declared->name,
                        "there is one data file; --data FILE --data FILE, or file_path: [FILE, FILE], gives several");
    if (kind == FIT_SHARE_MODEL || (shared && !linear) || l->ng == 1)
        kind = own ? FIT_SHARE_EACH : FIT_SHARE_ALL;
    if (kind == FIT_SHARE_EACH && files && l->k->naxis == 0)
        kind = FIT_SHARE_FILE;
    if (kind == FIT_SHARE_FILE) {
        memcpy(number, files->of, l->ng * sizeof *number);
        return FIT_OK;
    }
    if (kind != FIT_SHARE_ALL && l->k->naxis == 0)
        return at_fault(l, share->from, l->cfg->param[k].declared->name, "the data have no angles or groups");
    if (linear && !own && kind != FIT_SHARE_ALL)
        return at_fault(l, share->from, l->cfg->param[k].declared->name,
                        "the model has one value of it for all groups; declare it `over` an axis there");
    if (kind == FIT_SHARE_SETS)
        return sets(l, k, number);
    for (size_t g = 0; g < l->ng; g++)
        number[g] = kind == FIT_SHARE_EACH ? g : 0;
    return FIT_OK;
}

/* ---- the linkage --------------------------------------------------------------------------------------------- */

static int is_linked(const struct fit_config *cfg, size_t from, size_t to)
{
    int any = 0;
    for (size_t k = from; k < to; k++)
        any |= cfg->param[k].tie != NULL || cfg->param[k].share.kind != FIT_SHARE_MODEL;
    return any;
}

/* Nonlinear parameters that have one value for each group in the model (with a density only). */
static int has_own(const struct fit_kernel *k, size_t ngroup)
{
    int any = 0;
    for (size_t n = 0; ngroup > 1 && n < k->nparam; n++)
        any |= k->param[n].over >= 0;
    return any;
}

static enum fit_status fill(struct links *l, int shared)
{
    for (size_t k = 0; k < l->n; k++) {
        const struct fit_config_tie *tie = l->cfg->param[k].tie;
        enum fit_status st = share_one(l, k, shared, l->share + k * l->ng);
        if (st != FIT_OK)
            return st;
        l->tied[k] = tie != NULL;
        if (!tie)
            continue;
        l->text[k] = tie->text;
        memcpy(l->tie + k * (l->n + 1), tie->factor, (l->n + 1) * sizeof *l->tie);
    }
    return FIT_OK;
}

/* Bounds of the inner parameters; fixed ones have none. */
static void inner_bounds(const struct links *l, double *lower, double *upper)
{
    const struct fit_setup *s = l->s;
    const size_t p = l->k->nparam, q = l->k->nlinear;
    for (size_t k = 0; k < p + q; k++) {
        int held = k < p ? s->fixed[k] : s->linear_fixed[k - p];
        double value = k < p ? s->start[k] : s->linear_start[k - p];
        lower[k] = held ? value : k < p ? s->lower[k] : s->linear_lower[k - p];
        upper[k] = held ? value : k < p ? s->upper[k] : s->linear_upper[k - p];
    }
}

/* Options of the inner parameters become those of the unknowns. */
static enum fit_status translate(struct links *l)
{
    struct fit_setup *s = l->s;
    struct fit_linkage *link = s->link;
    size_t p = l->k->nparam, q = l->k->nlinear, n = link->kernel.nparam, c = link->kernel.nlinear;
    FIT_SCRATCH(scratch);
    struct fit_arena *a = &s->storage_;
    double *inner_lower, *inner_upper, *lower, *upper;
    FIT_TAKE_DOUBLES(&scratch, p + q, &inner_lower, &inner_upper);
    FIT_TAKE_DOUBLES(a, n + c, &lower, &upper);
    unsigned char *fixed = fit_take(a, n, sizeof *fixed), *linear_fixed = fit_take(a, c, sizeof *linear_fixed);
    double *start = fit_take(a, n, sizeof *start), *linear_start = fit_take(a, l->ng * c, sizeof *linear_start);
    if (scratch.failed || a->failed)
        return fit_no_memory(l->err, "linked parameters");
    inner_bounds(l, inner_lower, inner_upper);
    enum fit_status st = fit_linkage_bounds(link, inner_lower, inner_upper, lower, upper, l->err);
    if (st != FIT_OK)
        return st;
    for (size_t u = 0; u < n; u++) {
        fixed[u] = s->fixed[link->of[u]];
        start[u] = s->start[link->of[u]];
        if (!fixed[u] && !isnan(start[u])) /* it may lie outside bounds that a tie has narrowed */
            start[u] = fmin(fmax(start[u], lower[u]), upper[u]);
    }
    for (size_t e = 0; e < c; e++)
        linear_fixed[e] = s->linear_fixed[link->of_linear[e]] && link->term_linear[e] == 0;
    for (size_t e = 0; e < l->ng * c; e++)
        linear_start[e] = link->term_linear[e % c] ? 0 : s->linear_start[e / c * q + link->of_linear[e % c]];
    s->fixed = fixed;
    s->start = start;
    s->lower = lower;
    s->upper = upper;
    s->linear_fixed = linear_fixed;
    s->linear_start = linear_start;
    s->linear_lower = lower + n;
    s->linear_upper = upper + n;
    return FIT_OK;
}

static enum fit_status linear_classes(struct links *l)
{
    struct fit_setup *s = l->s;
    size_t p = l->k->nparam, c = s->link ? s->link->kernel.nlinear : l->k->nlinear;
    s->linear_class = fit_take(&s->storage_, l->ng * c, sizeof *s->linear_class);
    if (!s->linear_class)
        return fit_no_memory(l->err, "linked parameters");
    for (size_t e = 0; e < l->ng * c; e++) {
        size_t q = s->link ? s->link->of_linear[e % c] : e % c;
        s->linear_class[e] = l->share[(p + q) * l->ng + e / c];
    }
    return FIT_OK;
}

/* Different azimuths; a series of K harmonics needs 2 K + 1 of them. */
static size_t azimuths(const struct fit_dataset *ds, const struct fit_kernel *k)
{
    const double turn = k->naxis ? fit_units_turn(k->axis[0].unit) : 360;
    size_t n = 0;
    for (size_t g = 0; k->naxis && g < ds->layout.ngroup; g++) {
        const double *phi = ds->layout.coord[0];
        size_t first = 0;
        while (first < g && fabs(remainder(phi[g] - phi[first], turn)) > 1e-6 * turn / 360)
            first++;
        n += first == g;
    }
    return n;
}

/* Harmonics of the series of contrast and offset; 0: none requested, or too few azimuths for it. */
static enum fit_status choose_series(struct links *l)
{
    struct fit_options *o = &l->s->options;
    if (o->scaling != FIT_SCALING_FOURIER)
        return FIT_OK;
    l->harmonics = (size_t)l->cfg->scaling.fourier_order.value;
    if (azimuths(l->ds, l->k) < 2 * l->harmonics + 1) {
        l->harmonics = 0;
        o->scaling = FIT_SCALING_INDIVIDUAL;
    }
    for (size_t q = 0; l->harmonics && q < l->k->nlinear; q++)
        if (l->cfg->param[l->k->nparam + q].share.kind != FIT_SHARE_MODEL)
            return at_fault(l, l->cfg->param[l->k->nparam + q].share.from, l->k->linear[q].name,
                            "not together with a Fourier series over the angles (--scaling)");
    return FIT_OK;
}

static enum fit_status make(struct links *l, struct fit_dataset *ds)
{
    struct fit_linkage_spec spec = {
        .tied = l->tied, .tie = l->tie, .text = l->text, .share = l->share, .harmonics = l->harmonics,
        .files = ds->files};
    int relations = 0, copies = 0;
    for (size_t k = 0; k < l->n; k++) {
        relations |= l->tied[k];
        for (size_t g = 1; k < l->k->nparam && g < l->ng; g++)
            copies |= l->share[k * l->ng + g] != l->share[k * l->ng];
    }
    enum fit_status st = FIT_OK;
    l->s->copies = copies;
    if (relations || copies || l->harmonics || ds->files) {
        st = fit_linkage_new(l->k, ds, &spec, &l->s->link, l->err);
        if (st == FIT_OK)
            st = translate(l);
    }
    if (st == FIT_OK && is_linked(l->cfg, l->k->nparam, l->n))
        st = linear_classes(l);
    fit_setup_borrow(l->s);
    return st;
}

enum fit_status fit_setup_links(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                struct fit_dataset *ds, int shared, struct fit_setup *s, struct fit_error *err)
{
    struct links l = {.cfg = cfg, .k = kernel, .ds = ds, .s = s, .err = err};
    enum fit_status st;
    ds->layout.context = NULL;
    l.ng = ds->layout.ngroup;
    if ((st = choose_series(&l)) != FIT_OK)
        return st;
    if (!is_linked(cfg, 0, cfg->nparam + cfg->nlinear) && !l.harmonics && !has_own(kernel, l.ng) && !ds->files)
        return FIT_OK;
    l.n = kernel->nparam + kernel->nlinear;
    FIT_SCRATCH(a);
    l.tied = fit_take(&a, l.n, sizeof *l.tied);
    l.tie = fit_take(&a, l.n * (l.n + 1), sizeof *l.tie);
    l.text = fit_take(&a, l.n, sizeof *l.text);
    l.share = fit_take(&a, l.n * l.ng, sizeof *l.share);
    if (a.failed)
        return fit_no_memory(err, "linked parameters");
    return (st = fill(&l, shared)) == FIT_OK ? make(&l, ds) : st;
}

void fit_setup_start_from(struct fit_setup *s, const struct fit_linkage *link, const struct fit_result *from)
{
    for (size_t u = 0; s->link && u < s->link->kernel.nparam; u++)
        for (size_t v = 0; v < from->nparam; v++)
            if ((link ? link->of[v] : v) == s->link->of[u] && !s->fixed[u])
                s->start[u] = fmin(fmax(from->theta[v], s->lower[u]), s->upper[u]);
    s->options.start_origin = "shared fit";
    s->options.start_only = 1;
}
