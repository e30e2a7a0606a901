/* plan.c -- `plan`: the expected errors of a planned experiment.
 *
 * The configuration is that of a fit. Frames, frame period, wavevectors, azimuths and noise come from the options of
 * `fit` (--frames 1:N, --dt, --q, --phi, --sigma), else from the configuration, else from the data file that it names,
 * which need not exist. Parameters are the starting values; contrast and offset are by default those of the data. The
 * output states the source of each. Every q is combined with every azimuth. Beside the errors stand those of larger
 * experiments: twice the frames, twice the frames in the same time, twice the azimuths, each value as noisy as before.
 */
#include "base/json.h"
#include "base/number_text.h"
#include "commands/configuration.h"
#include "commands/program.h"
#include "math/special.h"
#include "model/registry.h"
#include "setup/planning.h"
#include "commands/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STRONG = 0.95, WIDER = 1.2; /* limits above which correlation, and the ratio of profile to
                                                 * standard error, are reported */

/* ---- designs --------------------------------------------------------------------------------- */

/* All q with all azimuths; twice: also azimuths halfway to the next one, and after the last (for a single one: at
 * right angles to it). */
enum fit_status fit_plan_set_groups(const struct planning *x, struct planned *p, int twice, struct fit_error *err)
{
    const size_t n = x->nphi, nphi = twice ? 2 * n : n, all = x->nq * nphi;
    FIT_SCRATCH(a);
    double *phi = fit_take(&a, 2 * n, sizeof *phi), *place = malloc(3 * all * sizeof *place), step = 90;
    p->place = place;
    if (!phi || !place)
        return fit_no_memory(err, "plan");
    memcpy(phi, x->phi, n * sizeof *phi);
    if (twice)
        qsort(phi, n, sizeof *phi, fit_ascending);
    for (size_t k = 0; twice && k < n; k++) {
        step = k + 1 < n ? (phi[k + 1] - phi[k]) / 2 : n > 1 ? step : 90;
        phi[n + k] = phi[k] + step;
    }
    for (size_t g = 0; g < all; g++) {
        place[g] = x->q[g / nphi];
        place[all + g] = phi[g % nphi];
        place[2 * all + g] = x->sigma[x->nsigma == 1 ? 0 : g / nphi * n + g % nphi % n];
    }
    p->design.ngroup = all;
    p->design.q = place;
    p->design.phi = place + all;
    p->design.sigma = place + 2 * all;
    p->design.linear = x->linear;
    p->design.count = x->cfg->robust.count.value;
    p->design.shot = x->shot * x->dt / p->design.dt; /* photons of a frame are proportional to its time */
    return FIT_OK;
}

static enum fit_status set_designs(struct planning *x, struct fit_error *err)
{
    const struct planned all[DESIGNS] = {
        {.name = "as planned", .design = {.frames = x->frames, .dt = x->dt}},
        {.name = "frames x 2", .design = {.frames = 2 * x->frames, .dt = x->dt}},
        {.name = "period / 2", .design = {.frames = 2 * x->frames, .dt = x->dt / 2}},
        {.name = "angles x 2", .design = {.frames = x->frames, .dt = x->dt}},
    };
    enum fit_status st = FIT_OK;
    for (int k = 0; k < DESIGNS && st == FIT_OK; k++) {
        x->d[k] = all[k];
        st = fit_plan_set_groups(x, &x->d[k], k == 3, err);
    }
    return st;
}

/* ---- the experiment, and its sources ---------------------------------------------------------- */

static void from_config(const struct planning *x, struct fit_origin from, char *text)
{
    if (fit_given(from))
        fit_origin_text(x->cfg, from, text, FROM_SIZE);
}

/* Frames and period: options and configuration take precedence over the data file. */
static void know_design(struct planning *x)
{
    const struct fit_config_input *in = &x->cfg->input;
    const struct fit_selection *s = &x->sel;
    static const char data[] = "the data file";
    if (s->last >= 0) {
        x->frames = (size_t)(s->last - (s->first > 1 ? s->first : 1) + 1);
        from_config(x, in->end_frame.from, x->from.frames);
    } else if (x->data.frames) {
        x->frames = x->data.frames;
        snprintf(x->from.frames, FROM_SIZE, "%s", data);
    }
    x->dt = s->dt;
    from_config(x, in->dt.from, x->from.dt);
    if (!(x->dt > 0) && x->data.frames) {
        x->dt = x->data.dt;
        snprintf(x->from.dt, FROM_SIZE, "%s", data);
    }
}

/* Noise of a value, the same. */
static void know_noise(struct planning *x)
{
    const struct fit_config_input *in = &x->cfg->input;
    const struct fit_selection *s = &x->sel;
    if (s->sigma == FIT_SIGMA_VALUE && s->nsigma) {
        x->sigma = s->sigma_value;
        x->nsigma = s->nsigma;
        from_config(x, in->sigma.from, x->from.sigma);
    } else if (x->cfg->robust.count.value > 0 && x->shot > 0) {
        x->shot_sigma = x->shot / sqrt(x->cfg->robust.count.value);
        x->sigma = &x->shot_sigma;
        x->nsigma = 1;
        if (x->flux > 0)
            snprintf(x->from.sigma, FROM_SIZE, "--flux");
        else
            from_config(x, x->cfg->robust.shot.from, x->from.sigma);
    } else if (x->data.sigma > 0) {
        x->sigma = &x->data.sigma;
        x->nsigma = 1;
        snprintf(x->from.sigma, FROM_SIZE, "neighbouring values of the data file");
    }
}

/* Wavevectors and azimuths. */
static void know_groups(struct planning *x)
{
    const struct fit_config_input *in = &x->cfg->input;
    const int asked = !isnan(in->q.value) && in->q.from.kind == FIT_FROM_COMMAND;
    static const char data[] = "the data file";
    x->nothing[0] = NAN;
    x->q = x->nothing;
    x->phi = x->nothing + 1; /* one at 0, by default */
    x->nq = x->nphi = 1;
    if (in->q_list.n) {
        x->q = in->q_list.value;
        x->nq = in->q_list.n;
        from_config(x, in->q.from, x->from.q);
    } else if (x->data.frames && !asked && !isnan(x->data.q[0])) {
        x->q = x->data.q;
        x->nq = x->data.nq;
        snprintf(x->from.q, FROM_SIZE, "%s", data);
    } else if (!isnan(in->q.value)) {
        x->q = &in->q.value;
        from_config(x, in->q.from, x->from.q);
    }
    if (x->sel.nlist && (!x->data.frames || x->cfg->angles.list.from.kind == FIT_FROM_COMMAND)) {
        x->phi = x->sel.list;
        x->nphi = x->sel.nlist;
        from_config(x, x->cfg->angles.list.from, x->from.phi);
    } else if (x->data.frames) {
        x->phi = x->data.phi;
        x->nphi = x->data.nphi;
        snprintf(x->from.phi, FROM_SIZE, "%s", data);
    }
}

/* Contrast and offset of the data, by default. */
static enum fit_status know_linear(struct planning *x, struct fit_error *err)
{
    const struct fit_kernel *k = x->model;
    if (!(x->linear = malloc((k->nlinear + 1) * sizeof *x->linear)))
        return fit_no_memory(err, "plan");
    for (size_t q = 0; q < k->nlinear; q++) {
        const int automatic = x->cfg->param[k->nparam + q].automatic;
        x->linear[q] = !automatic                                    ? NAN
                       : strcmp(k->linear[q].name, "contrast") == 0 ? x->data.contrast
                       : strcmp(k->linear[q].name, "offset") == 0   ? x->data.offset
                                                                    : NAN;
        if (!isnan(x->linear[q]))
            snprintf(x->from.linear, FROM_SIZE, "the data file (short and long lags)");
    }
    return FIT_OK;
}

/* What must be known. */
static enum fit_status ask(const struct planning *x, struct fit_error *err)
{
    char why[400] = "";
    if (*x->data.why)
        snprintf(why, sizeof why, " (the data file gives nothing: %s)", x->data.why);
    const int angles = fit_config_axis_index(x->model, "phi") >= 0, rings = fit_config_axis_index(x->model, "q") >= 0;
    if (!x->frames)
        return fit_fail(err, FIT_ERR_CONFIG, "plan: the number of frames is missing; give --frames 1:N%s", why);
    if (!(x->dt > 0))
        return fit_fail(err, FIT_ERR_CONFIG, "plan: the frame period is missing; give --dt, in s%s", why);
    if (angles && x->phi == x->nothing + 1)
        return fit_fail(err, FIT_ERR_CONFIG, "plan: the azimuths are missing; give --phi D1,D2,..., in degrees%s", why);
    if (rings && isnan(x->q[0]))
        return fit_fail(err, FIT_ERR_CONFIG, "plan: the wavevectors are missing; give --q Q1,Q2,..., in 1/angstrom%s",
                        why);
    if (!x->nsigma)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "plan: the noise of a value of c2 is missing; give --sigma, its standard deviation, or "
                        "--speckles and --shot or --flux (inspect and fit of an earlier experiment tell)%s", why);
    if (x->nsigma != 1 && x->nsigma != x->nq * x->nphi)
        return fit_fail(err, FIT_ERR_CONFIG, "plan: %zu values of sigma for %zu %s; give one, or one each",
                        x->nsigma, x->nq * x->nphi, x->nq > 1 ? "groups (q, phi)" : "azimuths");
    return FIT_OK;
}

static enum fit_status know(struct planning *x, const struct fit_cli *cli, struct fit_error *err)
{
    know_design(x);
    const enum fit_status st = fit_plan_know_photons(x, cli, err);
    if (st != FIT_OK)
        return st;
    know_noise(x);
    know_groups(x);
    return ask(x, err);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Largest error of linear parameter q over the groups; the value is that of the first. */
static double linear_error(const struct fit_plan *p, enum fit_plan_kind kind, size_t q)
{
    const struct fit_result *r = &p->fit;
    double most = 0;
    for (size_t g = 0; g < r->ngroup; g++) {
        double e = fit_plan_errors(p, kind)[r->nparam + g * r->nlinear + q];
        most = isnan(e) || e > most ? e : most;
        if (isnan(e))
            break;
    }
    return most;
}

/* Error of parameter j, linear ones after the others; NaN: not determined. */
static double error_of(const struct fit_plan *p, enum fit_plan_kind kind, size_t j)
{
    if (!fit_plan_errors(p, kind))
        return NAN;
    return j < p->fit.nparam ? fit_plan_errors(p, kind)[j] : linear_error(p, kind, j - p->fit.nparam);
}

static double value_of(const struct fit_plan *p, size_t j)
{
    return j < p->fit.nparam ? p->fit.theta[j] : p->fit.lin[j - p->fit.nparam];
}

/* ---- as text --------------------------------------------------------------------------------- */

static void print_errors(const struct planning *x, enum fit_plan_kind kind, FILE *f)
{
    const struct fit_plan *p = &x->d[0].plan;
    static const char *const what[] = {"expected errors", "least squares", "efficient"};
    static const char *const heading[DESIGNS] = {"planned", "frames*2", "period/2", "angles*2"};
    size_t n = p->kernel->nparam + p->kernel->nlinear;
    fprintf(f, "%-23s%5s", what[kind], "value");
    for (int k = 0; k < DESIGNS; k++)
        fprintf(f, "%9s", heading[k]);
    fprintf(f, "\n");
    for (size_t j = 0; j < n; j++) {
        const struct fit_param *par = fit_kernel_unknown(p->kernel, j);
        fprintf(f, "  %-18s%#8.4g", par->name, value_of(p, j));
        for (int k = 0; k < DESIGNS; k++) {
            double e = x->d[k].done ? error_of(&x->d[k].plan, kind, j) : NAN;
            if (e > 0)
                fprintf(f, "%9.2g", e);
            else
                fprintf(f, "%9s", !x->d[k].done ? "-" : isnan(e) ? "unknown" : "fixed");
        }
        fprintf(f, "%s%s\n", strcmp(par->unit, "1") ? " " : "", strcmp(par->unit, "1") ? par->unit : "");
    }
    if (p->kernel->nlinear && p->fit.ngroup > 1)
        fprintf(f, "(of contrast and offset the largest error of an angle)\n");
}

static void print_relations(const struct planning *x, FILE *f)
{
    const struct fit_plan *p = &x->d[0].plan;
    const struct fit_result *r = &p->fit;
    char value[40], error[40];
    for (size_t k = 0; k < r->ndegenerate; k++) {
        static const char head[] = "not determined: ";
        fputs(head, f);
        option_put_wrapped(f, r->degenerate[k].text, sizeof head - 1);
    }
    for (size_t k = 0; k < r->ncombination; k++) {
        if (!(r->combination_std[k] > 0))
            continue;
        fit_format_error(r->combination[k], r->combination_std[k], value, sizeof value, error, sizeof error);
        fprintf(f, "determined: %s = %s +- %s  %s\n", p->kernel->combination[k].text, value, error,
                p->kernel->combination[k].unit);
    }
    if (r->nnull)
        fprintf(f, "%zu direction%s of the parameters %s no effect on the values\n", r->nnull, r->nnull > 1 ? "s" : "",
                r->nnull > 1 ? "have" : "has");
    for (size_t a = 0; a < r->nparam; a++)
        for (size_t b = 0; b < a; b++)
            if (fabs(r->correlation[a * r->nfull + b]) > STRONG)
                fprintf(f, "%s and %s can hardly be told apart: correlation %.3f\n", p->kernel->param[b].name,
                        p->kernel->param[a].name, r->correlation[a * r->nfull + b]);
    for (size_t j = 0; j < r->nparam; j++)
        if (isinf(r->profile[j]))
            fprintf(f,
                    "%s: the model is not linear over its error; expect no limit from the data on one side at least\n",
                    p->kernel->param[j].name);
        else if (r->profile[j] > WIDER * r->std_curvature[j])
            fprintf(f, "%s: the model is not linear over its error; expect about %.2g\n", p->kernel->param[j].name,
                    r->profile[j]);
    for (size_t j = 0; j < r->nparam; j++)
        if (r->at_bound[j])
            fprintf(f, "%s stands on a bound and has no error\n", p->kernel->param[j].name);
}

/* Quantities without a source. */
static void print_defaults(const struct planning *x, FILE *f)
{
    static const char head[] = "no value was given, the model's own is planned with (--start NAME=VALUE): ";
    char text[600];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (size_t k = 0; k < x->cfg->nparam + x->cfg->nlinear; k++)
        if (x->cfg->param[k].automatic && !x->cfg->param[k].fixed.value && at + 80 < sizeof text &&
            (k < x->cfg->nparam || isnan(x->linear[k - x->cfg->nparam])))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at < sizeof head ? "" : ", ",
                                   x->cfg->param[k].declared->name);
    if (at >= sizeof head)
        option_put_wrapped(f, text, 0);
}

/* "frames from --frames; frame period, azimuths from the data file; ..." */
static void print_origins(const struct planning *x, FILE *f)
{
    const struct known *k = &x->from;
    const char *const name[] = {"frames", "frame period", "q", "azimuths", "noise", "contrast and offset"};
    const char *const from[] = {k->frames, k->dt, k->q, k->phi, k->sigma, k->linear};
    enum { N = sizeof name / sizeof *name };
    char text[1200] = "";
    size_t at = 0;
    for (size_t i = 0; i < N; i++) {
        int said = !*from[i], first = 1;
        for (size_t j = 0; j < i; j++)
            said |= strcmp(from[j], from[i]) == 0;
        for (size_t j = i; !said && j < N; j++)
            if (strcmp(from[j], from[i]) == 0 && at + FROM_SIZE < sizeof text) {
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", first ? (at ? "; " : "") : ", ", name[j]);
                first = 0;
            }
        if (!said && at + FROM_SIZE < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, " from %s", from[i]);
    }
    if (at)
        option_put_wrapped(f, text, 0);
    if (*x->data.why) {
        snprintf(text, sizeof text, "nothing from the data file: %s", x->data.why);
        option_put_wrapped(f, text, 0);
    }
}

static void print_text(const struct planning *x, FILE *f)
{
    const struct fit_plan_design *d = &x->d[0].design;
    const struct fit_plan *p = &x->d[0].plan;
    fprintf(f, "%s: %zu frames of %g s, ", x->model->name, d->frames, d->dt);
    if (x->nq > 1)
        fprintf(f, "%zu wavevectors, q %g .. %g 1/angstrom, ", x->nq, x->q[0], x->q[x->nq - 1]);
    fprintf(f, "%zu angle%s", x->nphi, x->nphi > 1 ? "s" : "");
    if (x->nq == 1 && !isnan(x->q[0]))
        fprintf(f, ", q %g 1/angstrom", x->q[0]);
    fprintf(f, "\nnoise %.4g: %.3g values\n", d->sigma[0], p->values);
    print_origins(x, f);
    if (p->efficient) {
        fprintf(f, "expected errors, noise of %.3g speckles of an angle, shot noise %.3g:\n", d->count, d->shot);
        print_errors(x, LEAST_SQUARES, f);
    }
    print_errors(x, p->efficient ? EFFICIENT : INDEPENDENT, f);
    if (*p->why)
        option_put_wrapped(f, p->why, 0);
    fit_plan_print_answers(x, f);
    print_defaults(x, f);
    print_relations(x, f);
    for (int k = 0; k < DESIGNS; k++) {
        if (!x->d[k].done)
            fprintf(f, "%s: %s\n", x->d[k].name, x->d[k].why);
        else if (x->d[k].plan.stride > 1)
            fprintf(f, "%s: from every %zu-th frame\n", x->d[k].name, x->d[k].plan.stride);
    }
    if (!p->efficient)
        fprintf(f, "for noise that is independent from value to value; noise that frames share makes\n"
                   "them larger (--speckles M --shot S, or --flux F: by how much)\n");
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void put_parameter(struct fit_json *j, const struct planning *x, size_t at)
{
    const struct fit_plan *p = &x->d[0].plan;
    const struct fit_param *par = fit_kernel_unknown(p->kernel, at);
    double e = error_of(p, INDEPENDENT, at), v = value_of(p, at);
    fit_json_begin(j, par->name, '{');
    fit_json_number(j, "value", v);
    fit_json_number(j, "std", e);
    fit_json_number(j, "relative", e / fabs(v));
    if (at < p->fit.nparam)
        fit_json_number(j, "std_profile", p->fit.profile[at]);
    if (p->efficient) {
        fit_json_number(j, "std_speckle", error_of(p, LEAST_SQUARES, at));
        fit_json_number(j, "std_efficient", error_of(p, EFFICIENT, at));
    }
    fit_json_string(j, "unit", par->unit);
    fit_json_boolean(j, "determined", isfinite(e));
    for (int k = 1; k < DESIGNS; k++) {
        char name[40];
        snprintf(name, sizeof name, "std_%s", k == 1 ? "frames_doubled" : k == 2 ? "period_halved" : "angles_doubled");
        fit_json_number(j, name, x->d[k].done ? error_of(&x->d[k].plan, INDEPENDENT, at) : NAN);
    }
    fit_json_end(j);
}

static void put_relations(struct fit_json *j, const struct fit_plan *p)
{
    const struct fit_result *r = &p->fit;
    fit_json_begin(j, "not_determined", '[');
    for (size_t k = 0; k < r->ndegenerate; k++)
        fit_json_string(j, NULL, r->degenerate[k].text);
    fit_json_end(j);
    fit_json_begin(j, "combinations", '{');
    for (size_t k = 0; k < r->ncombination; k++) {
        if (!(r->combination_std[k] > 0))
            continue;
        fit_json_begin(j, p->kernel->combination[k].text, '{');
        fit_json_number(j, "value", r->combination[k]);
        fit_json_number(j, "std", r->combination_std[k]);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_integer(j, "null_directions", (int64_t)r->nnull);
    fit_json_begin(j, "correlation", '[');
    for (size_t a = 0; a < r->nparam; a++)
        fit_json_numbers(j, NULL, r->correlation + a * r->nfull, r->nparam);
    fit_json_end(j);
}

static void put_origins(struct fit_json *j, const struct known *k)
{
    fit_json_begin(j, "from", '{');
    fit_json_string(j, "frames", k->frames);
    fit_json_string(j, "dt", k->dt);
    fit_json_string(j, "q", k->q);
    fit_json_string(j, "phi", k->phi);
    fit_json_string(j, "sigma", k->sigma);
    fit_json_string(j, "linear", k->linear);
    fit_json_end(j);
}

static void print_json(const struct planning *x, FILE *f)
{
    const struct fit_plan *p = &x->d[0].plan;
    const struct fit_plan_design *d = &x->d[0].design;
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "model", x->model->name);
    fit_json_integer(&j, "frames", (int64_t)d->frames);
    fit_json_number(&j, "dt", d->dt);
    fit_json_number(&j, "q", x->nq == 1 ? x->q[0] : NAN);
    if (x->nq > 1)
        fit_json_numbers(&j, "q_values", d->q, d->ngroup);
    fit_json_numbers(&j, "phi", d->phi, d->ngroup);
    fit_json_numbers(&j, "sigma", d->sigma, d->ngroup);
    put_origins(&j, &x->from);
    fit_json_number(&j, "values", p->values);
    fit_json_integer(&j, "every_nth_frame", (int64_t)p->stride);
    fit_json_begin(&j, "parameters", '{');
    for (size_t k = 0; k < p->kernel->nparam + p->kernel->nlinear; k++)
        put_parameter(&j, x, k);
    fit_json_end(&j);
    put_relations(&j, p);
    fit_plan_put_answers(&j, x);
    fit_json_end(&j);
    fprintf(f, "%s\n", fit_json_text(&j) ? fit_json_text(&j) : "{}");
    fit_json_free(&j);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Larger experiments that cannot be evaluated leave the first as it is. */
static enum fit_status run_designs(struct planning *x, struct fit_progress_view *view, struct fit_error *err)
{
    static const double before[DESIGNS] = {0, 1, 5, 9}, all = 11; /* values, those of the first being 1 */
    fit_progress_phase(view, "expected errors");
    for (int k = 0; k < DESIGNS; k++) {
        struct planned *p = &x->d[k];
        struct fit_error why = {.status = FIT_OK};
        if (k)
            fit_progress_part(view, before[k], all);
        enum fit_status st = fit_plan_run(x->cfg, x->model, &p->design, &p->plan, &why);
        p->done = st == FIT_OK;
        snprintf(p->why, sizeof p->why, "%.190s", why.message);
        if (!p->done && k == 0) {
            *err = why;
            return st;
        }
    }
    return FIT_OK;
}

static void release(struct planning *x)
{
    for (int k = 0; k < DESIGNS; k++) {
        fit_plan_free(&x->d[k].plan);
        free(x->d[k].place);
    }
    fit_plan_free_answers(x);
    free(x->linear);
    fit_plan_data_free(&x->data);
}

enum fit_status fit_cmd_plan(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    struct planning x = {.dt = NAN};
    struct fit_progress_view view = {0};
    struct fit_config_log log;
    struct fit_config *cfg = NULL;
    fit_config_log_init(&log);
    enum fit_status st = fit_program_kernel(p, cli, &x.model, err);
    if (st == FIT_OK && x.model->space != FIT_PAIRS)
        st = fit_fail(err, FIT_ERR_USAGE, "plan: this is for matrices; for a table, simulate it and fit");
    if (st == FIT_OK)
        st = fit_setup_config(cli, x.model, &log, &cfg, err);
    for (size_t k = 0; k < log.n; k++)
        if (log.message[k].error && strcmp(log.message[k].text, err->message) != 0)
            fprintf(p->err, "%s\n", log.message[k].text);
    if (st != FIT_OK)
        goto done;
    x.cfg = cfg;
    fit_selection_from_config(cfg, &x.sel);
    if ((st = fit_plan_data_read(cfg, &x.data, err)) != FIT_OK || (st = know_linear(&x, err)) != FIT_OK)
        goto done;
    if ((st = know(&x, cli, err)) == FIT_OK && (st = set_designs(&x, err)) == FIT_OK)
        st = fit_progress_begin(&view, p->err, p->err_is_terminal, NULL, cli->quiet, err);
    if (st == FIT_OK)
        st = run_designs(&x, &view, err);
    if (st == FIT_OK)
        st = fit_plan_answer(&x, cli, err);
    fit_progress_clear(&view);
    if (st == FIT_OK)
        (cli->json ? print_json : print_text)(&x, p->out);
done:
    release(&x);
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return st;
}
