/* write_posterior_data.c -- the groups of posterior.nc beside the draws: prior, predictions and their checks, data,
 * constants.  See write_posterior.c.
 */
#include "results/write_posterior_impl.h"

#include "data/file_times.h"
#include "math/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 10000 };

/* ---- prior ----------------------------------------------------------------------------------- */

/* Stores draws of the prior of parameter p in all[p]; a prior with parameters uses their draws. 0: the parameter is
 * fixed, or its prior is not a density. */
static int draw_prior(const struct fit_nc *f, size_t p, double *all)
{
    const struct fit_column_summary *c = &f->s->column[p];
    struct fit_rng rng = {.chain = (uint32_t)p, .purpose = FIT_RNG_PRIOR};
    const unsigned *from = c->prior_from;
    double *draw = all + p * FIT_NC_PRIOR_DRAWS;
    int any = from[0] || from[1];
    draw[0] = NAN;
    if (c->constant || (!any && !c->prior.proper))
        return 0;
    for (size_t n = 0; n < FIT_NC_PRIOR_DRAWS; n++) {
        struct fit_prior prior = c->prior;
        double u = fit_rng_next_uniform(&rng);
        if (any) {
            double a = from[0] ? all[(from[0] - 1) * FIT_NC_PRIOR_DRAWS + n] : prior.a;
            double b = from[1] ? all[(from[1] - 1) * FIT_NC_PRIOR_DRAWS + n] : prior.b;
            if (!fit_prior_init(&prior, prior.kind, a, b, prior.lower, prior.upper))
                return 0;
        }
        draw[n] = fit_prior_quantile(&prior, u);
    }
    return 1;
}

/* Draws by inversion; the same for every seed. */
void fit_nc_put_prior(struct fit_nc *f)
{
    const struct fit_kernel *k = f->r->kernel;
    double *all = malloc((f->s->nparam + 1) * FIT_NC_PRIOR_DRAWS * sizeof *all);
    size_t dims[2] = {1, FIT_NC_PRIOR_DRAWS};
    char path[FIT_NC_PATH], name[80];
    fit_h5r_group(f->w, "/prior", NULL);
    fit_nc_index(f, "prior", "chain", 1);
    fit_nc_index(f, "prior", "draw", FIT_NC_PRIOR_DRAWS);
    if (!all)
        fit_h5r_no_memory(f->w, "/prior");
    for (size_t p = 0; all && p < f->s->nparam; p++) {
        double *draw = all + p * FIT_NC_PRIOR_DRAWS;
        if (!draw_prior(f, p, all))
            continue;
        fit_nc_variable_name(f, k->param[p].name, name);
        fit_h5r_reals(f->w, fit_nc_path(path, "prior", name), 2, dims, draw, k->param[p].unit);
        fit_nc_attach(f, "prior", name, (const char *const[]){"chain", "draw", NULL});
    }
    free(all);
    fit_nc_describe(f, "/prior");
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* A variable over the table's rows for the selected draws. */
static void put_predicted(struct fit_nc *f, const char *group, const double *value, const char *unit)
{
    const struct fit_predictive *p = f->r->predictive;
    const size_t dims[3] = {p->chains, p->draws, p->nrow};
    FIT_OWNED int64_t *number = malloc((p->draws + p->nrow + p->chains) * sizeof *number);
    const size_t count[] = {p->chains, p->draws, p->nrow}, step[] = {1, p->step, 1};
    static const char *const name[] = {"chain", "draw", "row"};
    char path[FIT_NC_PATH];
    snprintf(path, sizeof path, "/%s", group);
    fit_h5r_group(f->w, path, NULL);
    if (!number)
        fit_h5r_no_memory(f->w, path);
    for (int d = 0; number && d < 3; d++) {
        for (size_t k = 0; k < count[d]; k++)
            number[k] = (int64_t)(k * step[d]);
        fit_h5r_integers(f->w, fit_nc_path(path, group, name[d]), count[d], number);
        fit_h5r_scale(f->w, path, name[d]);
    }
    fit_h5r_reals(f->w, fit_nc_path(path, group, "value"), 3, dims, value, unit);
    fit_nc_attach(f, group, "value", (const char *const[]){"chain", "draw", "row", NULL});
    snprintf(path, sizeof path, "/%s", group);
    fit_nc_describe(f, path);
}

/* Log likelihood of the rows, and data drawn for them. */
void fit_nc_put_predictive(struct fit_nc *f)
{
    const struct fit_predictive *p = f->r->predictive;
    if (!p)
        return;
    put_predicted(f, "log_likelihood", p->log_likelihood, NULL);
    if (!p->y)
        return;
    put_predicted(f, "posterior_predictive", p->y, NULL);
    fit_h5r_attribute_real(f->w, "/posterior_predictive", "p_scatter", p->p);
}

/* One of p, z, data, model of a measure for every group; the mean over groups is an attribute. */
static void put_residual_number(struct fit_nc *f, size_t m, const char *what, size_t at)
{
    static const char group[] = "predictive_check";
    const struct fit_residual_check *c = f->r->residuals;
    char path[FIT_NC_PATH], name[80];
    size_t n = c->ngroup;
    for (size_t g = 0; g <= n; g++)
        memcpy(&f->buffer[g], (const char *)&c->result[g * FIT_RESIDUAL_MEASURES + m] + at, sizeof *f->buffer);
    snprintf(name, sizeof name, "%s_%s", fit_residual_word((enum fit_residual_measure)m), what);
    fit_h5r_reals(f->w, fit_nc_path(path, group, name), f->group_name ? 1 : 0, &n, f->buffer, NULL);
    if (f->group_name)
        fit_nc_attach(f, group, name, (const char *const[]){f->group_name, NULL});
    fit_h5r_attribute_real(f->w, path, "all", f->buffer[n]);
}

void fit_nc_put_residual_check(struct fit_nc *f)
{
    const struct fit_residual_check *c = f->r->residuals;
    char text[1024];
    if (!c)
        return;
    fit_h5r_group(f->w, "/predictive_check", NULL);
    fit_nc_group_dimension(f, "predictive_check");
    for (size_t m = 0; m < FIT_RESIDUAL_MEASURES; m++) {
        if (isnan(c->result[c->ngroup * FIT_RESIDUAL_MEASURES + m].p))
            continue;
        put_residual_number(f, m, "p", offsetof(struct fit_residual_result, p));
        put_residual_number(f, m, "z", offsetof(struct fit_residual_result, z));
        put_residual_number(f, m, "data", offsetof(struct fit_residual_result, data));
        put_residual_number(f, m, "model", offsetof(struct fit_residual_result, model));
    }
    fit_residual_text(c, f->r->input->phi && !f->r->input->q_group ? "angles" : "groups", sizeof text, text);
    fit_nc_text(f, "/predictive_check", "text", text);
    fit_nc_integer(f, "/predictive_check", "draws", (int64_t)c->draws);
    fit_nc_describe(f, "/predictive_check");
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Files with their own times: lags and ages of every group. */
static void put_group_times(struct fit_nc *f, const char *name, const char *along, size_t n, const double *value)
{
    static const char group[] = "observed_data";
    char path[FIT_NC_PATH];
    if (!value)
        return;
    fit_h5r_reals(f->w, fit_nc_path(path, group, name), 2, (size_t[]){f->r->maps->ngroup, n}, value, "s");
    fit_nc_attach(f, group, name, (const char *const[]){f->group_name, along, NULL});
}

static void put_cuts(struct fit_nc *f)
{
    static const char group[] = "observed_data";
    const struct fit_maps *m = f->r->maps;
    size_t dims[3] = {m->ngroup, FIT_MAPS_AGES, m->nlag};
    const double *value[] = {m->g2, m->g2_error};
    static const char *const name[] = {"g2", "g2_err"};
    char path[FIT_NC_PATH];
    fit_nc_group_dimension(f, group);
    fit_nc_coordinate(f, group, "age", FIT_MAPS_AGES, m->age, "s");
    fit_nc_coordinate(f, group, "tau", m->nlag, m->tau, "s");
    put_group_times(f, "tau_of_group", "tau", m->nlag, m->tau_group);
    put_group_times(f, "age_of_group", "age", FIT_MAPS_AGES, m->age_group);
    for (int k = 0; k < 2; k++) {
        fit_h5r_reals(f->w, fit_nc_path(path, group, name[k]), 3, dims, value[k], "1");
        fit_nc_attach(f, group, name[k], (const char *const[]){f->group_name, "age", "tau", NULL});
    }
}

static void put_rows(struct fit_nc *f)
{
    FIT_SCRATCH(a);
    const struct fit_maps *m = f->r->maps;
    double *value = fit_take(&a, m->n, sizeof *value);
    int64_t *row = fit_take(&a, m->n, sizeof *row);
    for (size_t k = 0; !a.failed && k < m->n; k++) {
        value[k] = (double)m->c2[k];
        row[k] = (int64_t)k;
    }
    if (value && row) {
        fit_h5r_integers(f->w, "/observed_data/row", m->n, row);
        fit_h5r_scale(f->w, "/observed_data/row", "row");
        fit_h5r_reals(f->w, "/observed_data/value", 1, &m->n, value, NULL);
        fit_nc_attach(f, "observed_data", "value", (const char *const[]){"row", NULL});
    } else {
        fit_h5r_no_memory(f->w, "observed_data");
    }
}

void fit_nc_put_observed(struct fit_nc *f)
{
    int pairs = f->r->kernel->space == FIT_PAIRS;
    if (!f->r->maps || (!pairs && f->r->maps->n > MOST_ROWS))
        return;
    fit_h5r_group(f->w, "/observed_data", NULL);
    if (pairs)
        put_cuts(f);
    else
        put_rows(f);
    fit_nc_describe(f, "/observed_data");
}

static void put_fixed(struct fit_nc *f, const char *group, const struct fit_nc_variable *v)
{
    char path[FIT_NC_PATH];
    size_t n = f->s->ngroup;
    for (size_t g = 0; g < n; g++)
        f->buffer[g] = f->s->x[v->first + g * v->stride];
    fit_h5r_reals(f->w, fit_nc_path(path, group, v->name), v->grouped, &n, f->buffer, v->unit);
    if (v->grouped)
        fit_nc_attach(f, group, v->name, (const char *const[]){f->group_name, NULL});
    fit_nc_text(f, path, "long_name", v->doc);
}

/* The frame period; of every group, where files differ in it. */
static void put_period(struct fit_nc *f)
{
    static const char path[] = "/constant_data/frame_period";
    if (!fit_dataset_times_differ(f->r->ds)) {
        fit_h5r_real(f->w, path, f->r->ds->layout.step, "s");
        return;
    }
    const size_t n = f->s->ngroup;
    for (size_t g = 0; g < n; g++)
        f->buffer[g] = fit_dataset_group_time(f->r->ds, g).step;
    fit_h5r_reals(f->w, path, f->group_name != NULL, &n, f->buffer, "s");
    fit_nc_attach(f, "constant_data", "frame_period", (const char *const[]){f->group_name, NULL});
}

void fit_nc_put_constants(struct fit_nc *f)
{
    const struct fit_kernel *k = f->r->kernel;
    const char *const groups[] = {f->group_name, NULL};
    size_t n = f->s->ngroup;
    char path[FIT_NC_PATH], name[80];
    fit_h5r_group(f->w, "/constant_data", NULL);
    fit_nc_group_dimension(f, "constant_data");
    for (size_t s = 0; s < k->nsetting; s++)
        fit_h5r_real(f->w, fit_nc_path(path, "constant_data", fit_nc_variable_name(f, k->setting[s].name, name)),
                     f->r->ds->layout.setting[s], k->setting[s].unit);
    if (k->space == FIT_PAIRS)
        put_period(f);
    if (!k->density) {
        fit_h5r_reals(f->w, "/constant_data/least_squares_sigma", f->group_name != NULL, &n,
                      f->r->fit->sigma, "1");
        fit_nc_attach(f, "constant_data", "least_squares_sigma", groups);
    }
    fit_nc_each_variable(f, "constant_data", 1, put_fixed);
    fit_nc_describe(f, "/constant_data");
}
