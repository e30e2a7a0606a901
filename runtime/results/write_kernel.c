/* write_kernel.c -- the input of a model's kernel, /entry/kernel of fit.h5, so that other programs can evaluate it
 * again: settings, coordinates of the groups, for pairs the grid of times and its used frames; for a fit its
 * parameters in the order of the kernel.
 *
 *     setting          of the model; of several files, groups x settings
 *     time, step       of the frames, s; where files differ in them, files x frames, files: behind the last frame of a
 *                      file its times hardly increase (data/file_times.h)
 *     frame            the used frames, from 0;  file: the file of each group, from 0, where these differ in times
 *     axis_0, ..       coordinates of the groups
 *     theta            parameters; where some are tied or partly shared, groups x parameters, and beside them
 *     unknown          the fitted parameters: theta of group g = tie_factor[g] unknown + tie_constant[g]; before a fit
 *                      no theta is known, and the unknowns are 0
 *     linear           groups x linear parameters;  linear_bounds: lower, upper */
#include "hdf5/h5_writer.h"
#include "data/file_times.h"
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

static const struct fit_kernel *inner_of(const struct fit_results *r)
{
    return r->link ? r->link->inner : r->kernel;
}

/* Files with their own times. */
static void put_file_times(struct fit_h5r *w, const struct fit_dataset *ds)
{
    const struct fit_dataset_files *x = ds->files;
    const size_t n = ds->layout.ngroup, shape[2] = {x->n, ds->layout.ntime};
    FIT_OWNED int64_t *file = malloc(n * sizeof *file);
    for (size_t g = 0; file && g < n; g++)
        file[g] = (int64_t)x->of[g];
    if (file)
        fit_h5r_integers(w, "/entry/kernel/file", n, file);
    else
        fit_h5r_no_memory(w, "/entry/kernel/file");
    fit_h5r_reals(w, "/entry/kernel/time", 2, shape, x->time, "s");
    fit_h5r_reals(w, "/entry/kernel/step", 1, &x->n, x->step, "s");
}

static void put_times(struct fit_h5r *w, const struct fit_dataset *ds)
{
    const struct fit_layout *l = &ds->layout;
    FIT_OWNED int64_t *frame = malloc((l->nframe + 1) * sizeof *frame);
    if (!frame) {
        fit_h5r_no_memory(w, "/entry/kernel/frame");
        return;
    }
    for (size_t i = 0; i < l->nframe; i++)
        frame[i] = (int64_t)l->frame[i];
    fit_h5r_integers(w, "/entry/kernel/frame", l->nframe, frame);
    if (fit_dataset_times_differ(ds)) {
        put_file_times(w, ds);
        return;
    }
    fit_h5r_reals(w, "/entry/kernel/time", 1, &l->ntime, l->time, "s");
    fit_h5r_real(w, "/entry/kernel/step", l->step, "s");
}

static void put_settings(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_layout *l = &r->ds->layout;
    const struct fit_dataset_files *files = r->ds->files;
    const size_t n = inner_of(r)->nsetting, shape[2] = {l->ngroup, n};
    if (!files || !n) {
        if (n)
            fit_h5r_reals(w, "/entry/kernel/setting", 1, &n, l->setting, NULL);
        return;
    }
    FIT_OWNED double *all = malloc(l->ngroup * n * sizeof *all);
    for (size_t g = 0; all && g < l->ngroup; g++)
        memcpy(all + g * n, files->setting + files->of[g] * n, n * sizeof *all);
    if (all)
        fit_h5r_reals(w, "/entry/kernel/setting", 2, shape, all, NULL);
    else
        fit_h5r_no_memory(w, "/entry/kernel/setting");
}

/* T and s of every group: evaluated with all unknowns 0, and with one of them 1. */
static void put_ties(struct fit_h5r *w, const struct fit_results *r)
{
    const size_t n = r->kernel->nparam, p = r->link->inner->nparam, groups = r->ds->layout.ngroup;
    const size_t shape[3] = {groups, p, n};
    FIT_SCRATCH(a);
    double *factor, *constant, *theta, *x, *one;
    FIT_TAKE_DOUBLES(&a, groups * p * n, &factor);
    FIT_TAKE_DOUBLES(&a, groups * p, &constant, &theta);
    FIT_TAKE_DOUBLES(&a, n, &x);
    FIT_TAKE_DOUBLES(&a, p, &one);
    if (a.failed) {
        fit_h5r_no_memory(w, "/entry/kernel/tie_factor");
        return;
    }
    for (size_t g = 0; g < groups; g++) {
        fit_linkage_theta(r->link, g, r->fit ? r->fit->theta : x, theta + g * p);
        fit_linkage_theta(r->link, g, x, constant + g * p);
        for (size_t e = 0; e < n; e++) {
            x[e] = 1;
            fit_linkage_theta(r->link, g, x, one);
            x[e] = 0;
            for (size_t k = 0; k < p; k++)
                factor[(g * p + k) * n + e] = one[k] - constant[g * p + k];
        }
    }
    if (r->fit)
        fit_h5r_reals(w, "/entry/kernel/theta", 2, shape, theta, NULL);
    fit_h5r_reals(w, "/entry/kernel/unknown", 1, &n, r->fit ? r->fit->theta : x, NULL);
    fit_h5r_reals(w, "/entry/kernel/tie_factor", 3, shape, factor, NULL);
    fit_h5r_reals(w, "/entry/kernel/tie_constant", 2, shape, constant, NULL);
}

/* The bounds of linear parameter q of the model: those of the unknown that it is, else the model's own. */
static void bounds_of(const struct fit_results *r, size_t q, double ends[2])
{
    const struct fit_kernel *k = r->kernel, *inner = inner_of(r);
    size_t e = r->link ? k->nlinear : q;
    for (size_t c = 0; r->link && c < k->nlinear; c++)
        if (r->link->of_linear[c] == q && r->link->term_linear[c] == 0)
            e = c;
    ends[0] = e < k->nlinear ? r->fit->lower[k->nparam + e] : inner->linear[q].lower;
    ends[1] = e < k->nlinear ? r->fit->upper[k->nparam + e] : inner->linear[q].upper;
}

static void put_linear(struct fit_h5r *w, const struct fit_results *r)
{
    const size_t m = inner_of(r)->nlinear, outer = r->kernel->nlinear, groups = r->ds->layout.ngroup;
    const size_t shape[2] = {groups, m}, ends[2] = {2, m};
    FIT_OWNED double *lin = malloc(groups * m * sizeof *lin), *bound = malloc(2 * m * sizeof *bound);
    if (!lin || !bound) {
        fit_h5r_no_memory(w, "/entry/kernel/linear");
        return;
    }
    memset(lin, 0, groups * m * sizeof *lin);
    for (size_t g = 0; g < groups; g++)
        if (r->link)
            fit_linkage_linear(r->link, g, r->fit->lin, lin + g * m);
        else
            memcpy(lin + g * m, r->fit->lin + g * outer, m * sizeof *lin);
    for (size_t q = 0; q < m; q++) {
        double own[2];
        bounds_of(r, q, own);
        bound[q] = own[0];
        bound[m + q] = own[1];
    }
    fit_h5r_reals(w, "/entry/kernel/linear", 2, shape, lin, NULL);
    fit_h5r_reals(w, "/entry/kernel/linear_bounds", 2, ends, bound, NULL);
}

void fit_write_kernel(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_kernel *k = inner_of(r);
    const struct fit_layout *l = &r->ds->layout;
    char path[80];
    fit_h5r_group(w, "/entry/kernel", "NXcollection");
    if (k->space == FIT_PAIRS)
        put_times(w, r->ds);
    put_settings(w, r);
    for (size_t a = 0; a < k->naxis; a++) {
        snprintf(path, sizeof path, "/entry/kernel/axis_%zu", a);
        fit_h5r_reals(w, path, 1, &l->ngroup, l->coord[a], k->axis[a].unit);
    }
    if (r->link)
        put_ties(w, r);
    else if (r->fit)
        fit_h5r_reals(w, "/entry/kernel/theta", 1, &k->nparam, r->fit->theta, NULL);
    if (r->fit && k->nlinear)
        put_linear(w, r);
}
