/* load_posterior.c -- draws of the posterior (posterior.nc, InferenceData layout); see load.h.
 *
 * Taken are the parameters with one value for all groups, in the order of fit.json; with a single
 * group all of them.  What was held has no draws. */
#include "hdf5/reader.h"
#include "report/figures/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variable of a parameter: its name, or that with what sets it apart from a dimension or
 * another one. */
static int find(struct fit_h5 *h, const char *base, char *path, size_t size)
{
    static const char *const form[] = {"/posterior/%s", "/posterior/%s_parameter"};
    for (size_t k = 0; k < 2; k++) {
        int rank = 0;
        size_t dims[FIT_H5_RANK];
        snprintf(path, size, k ? form[1] : form[0], base);
        if (fit_h5_kind(h, path) == FIT_H5_NUMBER &&
            fit_h5_shape(h, path, &rank, dims, NULL) == FIT_OK && rank >= 2)
            return 1;
    }
    return 0;
}

static enum fit_status add(struct rp_result *r, struct fit_h5 *h, const char *name,
                           const struct fit_yaml *v, struct fit_error *err)
{
    char base[RP_NAME], path[256];
    int rank = 0;
    size_t dims[FIT_H5_RANK], n = 0;
    snprintf(base, sizeof base, "%.*s", (int)strcspn(name, "["), name);
    if (rp_json_true(v, "fixed") || !find(h, base, path, sizeof path))
        return FIT_OK;
    enum fit_status st = fit_h5_shape(h, path, &rank, dims, err);
    if (st != FIT_OK || (rank == 3 && dims[2] != 1))
        return st;
    struct rp_draws *d = &r->draw[r->ndraws];
    st = fit_h5_read_doubles(h, path, &d->value, &n, err);
    if (st != FIT_OK)
        return st;
    if (r->ndraws == 0) {
        r->chains = dims[0];
        r->draws = dims[1];
    }
    r->ndraws++;
    if (n == 0 || n != r->chains * r->draws)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu draws; %zu were expected", fit_h5_file(h),
                        path, n, r->chains * r->draws);
    snprintf(d->name, sizeof d->name, "%s", rank == 3 ? base : name);
    snprintf(d->unit, sizeof d->unit, "%s", rp_json_text(v, "unit"));
    d->least_squares = rp_json_number(v, "least_squares");
    d->r_hat = rp_json_number(v, "r_hat");
    d->ess = fmin(rp_json_number(v, "ess_bulk"), rp_json_number(v, "ess_tail")); /* as in the table */
    return FIT_OK;
}

static enum fit_status statistics(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    double *flag = NULL;
    size_t n = 0, all = r->chains * r->draws;
    enum fit_status st = FIT_OK;
    if (fit_h5_exists(h, "/sample_stats/energy"))
        st = fit_h5_read_doubles(h, "/sample_stats/energy", &r->energy, &n, err);
    if (st == FIT_OK && r->energy && n != all)
        st = fit_fail(err, FIT_ERR_DATA, "%s: energies of %zu draws; %zu were expected",
                      fit_h5_file(h), n, all);
    if (st == FIT_OK && fit_h5_exists(h, "/sample_stats/diverging"))
        st = fit_h5_read_doubles(h, "/sample_stats/diverging", &flag, &n, err);
    if (st == FIT_OK && flag && n == all && (r->diverging = malloc(all)))
        for (size_t k = 0; k < all; k++)
            r->diverging[k] = flag[k] > 0;
    free(flag);
    return st;
}

enum fit_status rp_posterior_read(struct rp_result *r, const char *file, struct fit_error *err)
{
    const struct fit_yaml *map = rp_get(r->json, "posterior.parameters");
    struct fit_h5 *h = NULL;
    enum fit_status st = fit_h5_open(file, &h, err);
    if (st != FIT_OK)
        return st;
    r->draw = calloc(map->n + 1, sizeof *r->draw);
    if (!r->draw)
        st = fit_no_memory(err, "posterior");
    for (size_t k = 0; st == FIT_OK && map->kind == FIT_YAML_MAP && k < map->n; k++)
        st = add(r, h, map->entry[k].key, map->entry[k].value, err);
    if (st == FIT_OK)
        st = statistics(r, h, err);
    if (fit_h5_starved(h))
        st = fit_no_memory(err, file);
    r->sampled = st == FIT_OK && r->ndraws > 0;
    fit_h5_close(h);
    return st;
}
