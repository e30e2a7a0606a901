/* write_cmc.c -- the posterior in the files of homodyne (folder cmc/), for scripts that read them.
 *
 *     parameters.json            mean and deviation of every parameter
 *     samples.npz                draws, flat and by chains, with the statistics of the sampler
 *     diagnostics.json           convergence of every parameter, with the limits in effect
 *     analysis_results_cmc.json  the sampled quantities, and the verdict
 *
 * Names and order of the parameters are homodyne's: contrast_0, .., offset_0, .., physical ones, sigma_0, ... The
 * numbers are of real draws of all data; there are no shards, so cmc_specific says one.
 */
#include "base/json.h"
#include "files/npz_write.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

struct cmc {
    const struct fit_results *r;
    const struct fit_samples *s;
    size_t *column; /* nsampled: of the draws, in homodyne's order */
    char (*name)[80];
    const char **text; /* names */
    double *buffer;    /* chains x draws x nsampled */
};

static int open_cmc(struct cmc *c, const struct fit_results *r, struct fit_arena *a)
{
    const struct fit_samples *s = r->samples;
    const struct fit_kernel *k = r->kernel;
    size_t n = 0, total = s->chains * s->draws;
    *c = (struct cmc){
        r,
        s,
        fit_take(a, s->nsampled, sizeof *c->column),
        fit_take(a, s->nsampled, sizeof *c->name),
        fit_take(a, s->nsampled, sizeof *c->text),
        fit_take(a, total * s->nsampled + s->nsampled * s->nsampled, sizeof *c->buffer)};
    if (a->failed)
        return 0;
    for (size_t q = 0; q < s->nlinear; q++)
        for (size_t g = 0; g < s->ngroup; g++, n++) {
            c->column[n] = s->nparam + g * s->nlinear + q;
            snprintf(c->name[n], sizeof *c->name, "%.58s_%zu", k->linear[q].name, g);
        }
    for (size_t p = 0; p < s->nparam; p++, n++) {
        c->column[n] = p;
        snprintf(c->name[n], sizeof *c->name, "%.70s", k->param[p].name);
    }
    for (size_t g = 0; g < s->ngroup; g++, n++) {
        c->column[n] = s->nparam + s->ngroup * s->nlinear + g;
        snprintf(c->name[n], sizeof *c->name, "sigma_%zu", g);
    }
    for (size_t i = 0; i < n; i++)
        c->text[i] = c->name[i];
    return 1;
}

/* ---- samples.npz ----------------------------------------------------------------------------- */

static void put_statistic(struct cmc *c, struct fit_npz_writer *w, const char *name, size_t offset)
{
    size_t n = c->s->chains * c->s->draws, dims[2] = {c->s->chains, c->s->draws};
    for (size_t k = 0; k < n; k++)
        memcpy(&c->buffer[k], (const char *)&c->s->stats[k] + offset, sizeof *c->buffer);
    fit_npz_put(w, name, 2, dims, c->buffer);
}

static void put_summaries(struct cmc *c, struct fit_npz_writer *w)
{
    static const char *const name[] = {"r_hat", "ess", "ess_bulk", "ess_tail", "mcse_mean"};
    size_t p = c->s->nsampled, square[2] = {p, p};
    for (size_t e = 0; e < sizeof name / sizeof *name; e++) {
        for (size_t k = 0; k < p; k++) {
            const struct fit_convergence *x = &c->s->column[c->column[k]].c;
            c->buffer[k] = e == 0   ? x->r_hat
                           : e <= 2 ? x->ess_bulk
                           : e == 3 ? x->ess_tail
                                    : x->mcse_mean;
        }
        fit_npz_put(w, name[e], 1, &p, c->buffer);
    }
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++)
            c->buffer[a * p + b] = c->s->covariance[c->column[a] * c->s->ncolumn + c->column[b]];
    fit_npz_put(w, "covariance", 2, square, c->buffer);
}

static enum fit_status write_samples(struct cmc *c, const char *path, struct fit_error *err)
{
    const struct fit_samples *s = c->s;
    size_t n = s->chains * s->draws, p = s->nsampled, d = s->ncoordinate;
    size_t flat[2] = {n, p}, draws[3] = {s->chains, s->draws, p}, metric[3] = {s->chains, d, d};
    struct fit_npz_writer w;
    fit_npz_create(&w, path);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < p; i++)
            c->buffer[k * p + i] = s->x[k * s->ncolumn + c->column[i]];
    fit_npz_put(&w, "samples", 2, flat, c->buffer);
    fit_npz_put(&w, "draws", 3, draws, c->buffer);
    fit_npz_put_names(&w, "param_names", p, c->text);
    if (c->r->run_id)
        fit_npz_put_names(&w, "run_id", 1, &c->r->run_id);
    fit_npz_put(&w, "log_prob", 2, draws, s->lp);
    put_summaries(c, &w);
    if (s->stats) {
        put_statistic(c, &w, "energy", offsetof(struct fit_draw_stats, energy));
        put_statistic(c, &w, "divergent", offsetof(struct fit_draw_stats, divergent));
        put_statistic(c, &w, "treedepth", offsetof(struct fit_draw_stats, tree_depth));
        put_statistic(c, &w, "n_leapfrog", offsetof(struct fit_draw_stats, n_leapfrog));
        put_statistic(c, &w, "stepsize", offsetof(struct fit_draw_stats, step));
        put_statistic(c, &w, "accept_stat", offsetof(struct fit_draw_stats, accept_stat));
        put_statistic(c, &w, "acceptance_rate", offsetof(struct fit_draw_stats, accept_stat));
        fit_npz_put(&w, "inv_metric", s->dense ? 3 : 2, metric, s->inverse_metric);
    }
    return fit_npz_finish(&w, err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double acceptance(const struct fit_samples *s)
{
    double sum = 0;
    for (size_t k = 0; s->health && k < s->chains; k++)
        sum += s->health[k].accept_mean;
    return s->health ? sum / (double)s->chains : NAN;
}

/* homodyne's words. */
static const char *status_word(const struct fit_samples *s)
{
    return s->verdict != FIT_VERDICT_FAILED ? "converged"
           : s->divergences > 0             ? "divergences"
                                            : "not_converged";
}

static void put_time(struct fit_json *j, const struct fit_results *r)
{
    char text[40];
    struct tm tm;
    gmtime_r(&r->end, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    fit_json_string(j, "timestamp", text);
    fit_json_string(j, "analysis_mode", r->kernel->mode ? r->kernel->mode : r->kernel->name);
    fit_json_string(j, "method", fit_sampling_method_word(r->samples->method));
}

static void put_counts(struct fit_json *j, const struct fit_samples *s, const char *seconds)
{
    fit_json_begin(j, "sampling_summary", '{');
    fit_json_integer(j, "n_samples", (int64_t)s->draws);
    fit_json_integer(j, "n_warmup", (int64_t)s->warmup);
    fit_json_integer(j, "n_chains", (int64_t)s->chains);
    fit_json_integer(j, "total_samples", (int64_t)(s->chains * s->draws));
    fit_json_number(j, seconds, s->seconds.total);
    fit_json_end(j);
}

static void parameters_json(struct fit_json *j, const struct cmc *c)
{
    const struct fit_samples *s = c->s;
    double least = INFINITY;
    put_time(j, c->r);
    put_counts(j, s, "computation_time");
    for (size_t k = 0; k < s->nsampled; k++)
        least = s->column[k].constant ? least : fmin(least, s->column[k].c.r_hat);
    fit_json_begin(j, "convergence", '{');
    fit_json_boolean(j, "all_chains_converged", s->verdict != FIT_VERDICT_FAILED);
    fit_json_number(j, "min_r_hat", least);
    fit_json_number(j, "max_r_hat", s->worst_r_hat);
    fit_json_number(j, "min_ess", s->least_ess);
    fit_json_number(j, "acceptance_rate", acceptance(s));
    fit_json_end(j);
    fit_json_begin(j, "parameters", '{');
    for (size_t k = 0; k < s->nsampled; k++) {
        fit_json_begin(j, c->name[k], '{');
        fit_json_number(j, "mean", s->column[c->column[k]].c.mean);
        fit_json_number(j, "std", s->column[c->column[k]].c.sd);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void diagnostics_json(struct fit_json *j, const struct cmc *c)
{
    const struct fit_samples *s = c->s;
    const struct fit_config_sampling *limits = &c->r->config->sampling;
    fit_json_begin(j, "convergence", '{');
    fit_json_boolean(j, "all_chains_converged", s->verdict != FIT_VERDICT_FAILED);
    fit_json_number(j, "r_hat_threshold", limits->max_rhat.value);
    fit_json_number(j, "ess_threshold", limits->min_ess.value);
    fit_json_begin(j, "per_parameter_diagnostics", '[');
    for (size_t k = 0; k < s->nsampled; k++) {
        const struct fit_column_summary *x = &s->column[c->column[k]];
        double ess = fmin(x->c.ess_bulk, x->c.ess_tail);
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "name", c->name[k]);
        fit_json_number(j, "r_hat", x->c.r_hat);
        fit_json_number(j, "ess", x->c.ess_bulk);
        fit_json_boolean(
            j, "converged",
            x->constant || (x->c.r_hat <= limits->max_rhat.value && ess >= limits->min_ess.value));
        fit_json_boolean(j, "deterministic", x->constant);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_end(j);
    fit_json_begin(j, "sampling_efficiency", '{');
    fit_json_number(j, "acceptance_rate", acceptance(s));
    fit_json_number(j, "target_acceptance", s->target_accept);
    fit_json_number(j, "divergences", s->divergences);
    fit_json_number(j, "tree_depth_warnings", s->saturated);
    fit_json_end(j);
    fit_json_begin(j, "posterior_checks", '{');
    fit_json_number(j, "effective_sample_size_ratio",
                    s->least_ess / (double)(s->chains * s->draws));
    fit_json_end(j);
    fit_json_begin(j, "cmc_specific", '{');
    fit_json_string(j, "combination_method", "none: all data were sampled at once");
    fit_json_integer(j, "num_shards", 1);
    fit_json_end(j);
}

static void analysis_json(struct fit_json *j, const struct cmc *c)
{
    const struct fit_samples *s = c->s;
    put_time(j, c->r);
    fit_json_begin(j, "sampling_quality", '{');
    fit_json_string(j, "convergence_status", status_word(s));
    fit_json_string(j, "quality_flag", fit_verdict_word(s->verdict));
    fit_json_begin(j, "warnings", '[');
    if (s->verdict != FIT_VERDICT_GOOD)
        fit_json_string(j, NULL, s->verdict_text);
    fit_json_end(j);
    fit_json_begin(j, "recommendations", '[');
    fit_json_end(j);
    fit_json_end(j);
    fit_json_begin(j, "dataset_info", '{');
    fit_json_integer(j, "n_angles", (int64_t)s->ngroup);
    fit_json_integer(j, "n_time_points", (int64_t)c->r->ds->layout.ntime);
    fit_json_integer(j, "total_data_points", (int64_t)c->r->fit->npoint);
    fit_json_number(j, "q_value", c->r->input->q);
    fit_json_end(j);
    put_counts(j, s, "execution_time");
}

static enum fit_status add_json(struct fit_output *out, const char *name, const struct cmc *c,
                                void (*fill)(struct fit_json *, const struct cmc *),
                                struct fit_error *err)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    if (c->r->run_id)
        fit_json_string(&j, "run_id", c->r->run_id);
    fill(&j, c);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    enum fit_status st = text ? fit_output_add_text(out, name, text, strlen(text), err)
                              : fit_no_memory(err, name);
    fit_json_free(&j);
    return st;
}

const char *const fit_cmc_file[FIT_CMC_FILES] = {"samples.npz", "parameters.json", "diagnostics.json",
                                                 "analysis_results_cmc.json"};

enum fit_status fit_write_cmc(const struct fit_results *r, const char *folder,
                              struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct cmc c;
    struct fit_output out;
    const char *path;
    enum fit_status st = fit_output_begin(&out, folder, err);
    if (st != FIT_OK)
        return st;
    if (!open_cmc(&c, r, &a))
        st = fit_no_memory(err, folder);
    if (st == FIT_OK)
        st = fit_output_add(&out, fit_cmc_file[0], &path, err);
    if (st == FIT_OK)
        st = write_samples(&c, path, err);
    if (st == FIT_OK)
        st = add_json(&out, fit_cmc_file[1], &c, parameters_json, err);
    if (st == FIT_OK)
        st = add_json(&out, fit_cmc_file[2], &c, diagnostics_json, err);
    if (st == FIT_OK)
        st = add_json(&out, fit_cmc_file[3], &c, analysis_json, err);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}
