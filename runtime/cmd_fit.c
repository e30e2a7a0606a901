/* cmd_fit.c -- `fit`: configuration, data, least squares, results.
 *
 * The order of things: read the configuration; say how much memory it takes; load; fit; compare
 * data and model; write all files under temporary names; rename them; print one screen.  An
 * interrupted or not converged fit writes the same files, marked as what they are. */
#define _DEFAULT_SOURCE /* gethostname */
#include "clock.h"
#include "memory.h"
#include "parallel.h"
#include "program.h"
#include "progress.h"
#include "registry.h"
#include "results.h"
#include "sampling_setup.h"
#include "setup.h"
#include "source.h"
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything a run holds; released in one place. */
struct run {
    struct fit_program *p;
    const struct fit_cli *cli;
    const struct fit_kernel *model, *k; /* the model's; the one that is fitted with (linkage.h) */
    struct fit_config_log log;
    struct fit_config *cfg;
    struct fit_measurement *m;
    struct fit_setup setup;
    struct fit_result fit;
    int fitted, sampled;
    char *identity, checkpoint[1100]; /* of the posterior; file */
    char no_posterior[512];           /* why there is none, although one was asked for */
    struct fit_sampling_setup posterior;
    struct fit_samples samples;
    struct fit_study study;
    size_t *profiles; /* of the options */
    struct fit_maps *maps;
    struct fit_notes notes;
    int average_noted; /* the configuration's notes speak of averaged scaling already */
    struct fit_progress_view view;
    double bytes; /* that loading reads, about */
    char *command_line, *config_text;
    char *last_log; /* run.log of the last fit into the same folder, or NULL */
    char *runlog; /* text of run.log, grown by a memory stream */
    size_t runlog_size;
    FILE *log_file, *log_copy; /* run.log in memory; --log */
    char folder[1024];
    size_t *bin;
    const char **key;
    double *phi;
    struct fit_input input;
    struct fit_results r;
    double clock, shared_seconds;
};

/* One line in run.log, with the seconds since the program began. */
static void say(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct run *run, const char *format, ...)
{
    FILE *const file[] = {run->log_file, run->log_copy};
    for (size_t k = 0; k < 2; k++) {
        va_list ap;
        if (!file[k])
            continue;
        fprintf(file[k], "%8.3f  ", fit_seconds() - run->clock);
        va_start(ap, format);
        vfprintf(file[k], format, ap);
        va_end(ap);
        fputc('\n', file[k]);
    }
}

/* --log: the same lines, seen by others while the fit runs. */
static enum fit_status open_log(struct run *run, struct fit_error *err)
{
    if (!run->cli->log)
        return FIT_OK;
    run->log_copy = fopen(run->cli->log, "w");
    if (!run->log_copy)
        return fit_fail(err, FIT_ERR_IO, "--log %s: cannot be written: %s", run->cli->log,
                        strerror(errno));
    setvbuf(run->log_copy, NULL, _IOLBF, 0);
    return FIT_OK;
}

/* ---- configuration
 * ---------------------------------------------------------------------------------- */

/* "dir/my.yaml:14:3: note: text" -> "my.yaml:14:3: text" */
static void add_config_note(struct run *run, const char *text)
{
    const char *mark = strstr(text, ": note: "), *from = text;
    if (!mark) {
        fit_notes_add(&run->notes, "%s", text);
        return;
    }
    for (const char *c = text; c < mark; c++)
        from = *c == '/' ? c + 1 : from;
    fit_notes_add(&run->notes, "%.*s: %s", (int)(mark - from), from, mark + strlen(": note: "));
    run->average_noted |= strstr(mark, "average") != NULL;
}

static void print_config_log(struct run *run, const struct fit_error *err)
{
    for (size_t k = 0; k < run->log.n; k++) {
        const struct fit_config_message *m = &run->log.message[k];
        say(run, "%s", m->text);
        if (m->error && strcmp(m->text, err->message) != 0)
            fprintf(run->p->err, "%s\n", m->text);
        else if (!m->error)
            add_config_note(run, m->text);
    }
}

static void note_ignored(struct run *run)
{
    char text[512] = "";
    for (size_t k = 0; k < run->cli->nignored; k++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s--%s", k ? ", " : "", run->cli->ignored[k].name);
    }
    if (run->cli->nignored)
        fit_notes_add(&run->notes, "no effect here: %s", text);
}

/* The variant that repeats the package asked for: parity_xpcsjax where the model has one, else parity. */
static const char *parity_variant(const struct run *run)
{
    const char *own = run->cfg->compat.peer.value == FIT_PEER_XPCSJAX ? "parity_xpcsjax" : "parity";
    for (const struct fit_kernel *const *k = run->p->kernels; *k; k++)
        if (strcmp((*k)->variant, own) == 0)
            return own;
    return "parity";
}

/* run.log of the last fit into this folder, or NULL. */
static char *read_last_log(const char *folder)
{
    enum { MOST = 1 << 20 };
    char path[1100], *text = NULL;
    snprintf(path, sizeof path, "%s/run.log", folder);
    FILE *f = fopen(path, "rb");
    if (f && (text = calloc(1, MOST + 1)) != NULL && fread(text, 1, MOST, f) == 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static enum fit_status configure(struct run *run, struct fit_error *err)
{
    enum fit_status st = open_log(run, err);
    if (st == FIT_OK)
        st = fit_program_kernel(run->p, run->cli, &run->k, err);
    if (st == FIT_OK)
        st = fit_progress_begin(&run->view, run->p->err, run->p->err_is_terminal,
                                run->cli->progress, run->cli->quiet, err);
    if (st != FIT_OK)
        return st;
    st = fit_setup_config(run->cli, run->k, &run->log, &run->cfg, err);
    print_config_log(run, err);
    note_ignored(run);
    if (st != FIT_OK)
        return st;
    if (run->cfg->compat.parity.value && !run->cli->variant) /* same parameters, other arithmetic */
        st = fit_registry_pick(run->p->kernels, parity_variant(run), run->cli->isa, &run->k, err);
    run->model = run->k;
    if (st == FIT_OK)
        st = fit_setup_supported(run->cfg, run->k, err);
    const char *dir = run->cfg->output.dir.value;
    if (dir)
        snprintf(run->folder, sizeof run->folder, "%s", dir);
    else
        snprintf(run->folder, sizeof run->folder, "%s_results", run->k->name);
    run->last_log = read_last_log(run->folder);
    run->config_text = fit_config_text(run->cfg);
    say(run, "%s %s, model %s, kernel %s %s", run->p->name, FIT_VERSION, run->k->name,
        run->k->variant, run->k->isa);
    say(run, "%s", run->command_line ? run->command_line : "");
    return st;
}

/* ---- data
 * ------------------------------------------------------------------------------------------- */

static double *settings(const struct run *run)
{
    double *s = malloc((run->k->nsetting + 1) * sizeof *s);
    for (size_t i = 0; s && i < run->k->nsetting; i++)
        s[i] = run->cfg->setting[i].value;
    return s;
}

/* Says how much memory the fit takes, before anything large is read. */
static enum fit_status estimate(struct run *run, struct fit_selection *sel, struct fit_error *err)
{
    struct fit_memory_plan plan;
    enum fit_status st =
        fit_memory_plan(sel, run->cfg->nlsq.memory_fraction.value, &plan, err);
    if (st != FIT_OK)
        return st;
    double mb = plan.streamed ? plan.streamed_mb : plan.held_mb;
    sel->memory = plan.data_limit;
    run->bytes = fit_memory_plan_bytes(sel, &plan);
    run->r.estimate_mb = mb;
    say(run, "memory: %.3g MB for %.0f points (%zu matrices, %zu frames)%s; %.0f MB are available",
        mb, plan.points, plan.ngroup, plan.frames, plan.streamed ? ", streamed" : "",
        plan.available_mb);
    if (!run->cli->quiet && !run->cli->json)
        fprintf(run->p->err, "memory: %.3g MB for %.0f points%s\n", mb, plan.points,
                plan.streamed ? ", read from the file in every pass" : "");
    return FIT_OK;
}

static void describe_input(struct run *run)
{
    const struct fit_measurement *m = run->m;
    struct fit_input *in = &run->input;
    struct stat s;
    *in = (struct fit_input){.size = m->size,
                             .q = NAN,
                             .gap = NAN,
                             .dt = m->dt,
                             .nfile = m->file_frames,
                             .first = (size_t)m->first,
                             .last = (size_t)m->last,
                             .nmasked = m->nmasked};
    snprintf(in->file, sizeof in->file, "%s", m->file);
    snprintf(in->sha256, sizeof in->sha256, "%s", m->sha256);
    snprintf(in->layout, sizeof in->layout, "%s", m->layout);
    in->mtime = stat(m->file, &s) == 0 ? s.st_mtime : 0;
    for (size_t i = 0; i < run->k->nsetting; i++)
        if (strcmp(run->k->setting[i].name, "gap") == 0)
            in->gap = m->setting[i];
    if (m->ngroup == 0 || run->k->space != FIT_PAIRS)
        return;
    in->q = m->group[0].q;
    run->bin = calloc(m->ngroup, sizeof *run->bin);
    run->key = calloc(m->ngroup, sizeof *run->key);
    run->phi = calloc(m->ngroup, sizeof *run->phi);
    int known = 1;
    for (size_t g = 0; run->bin && run->key && run->phi && g < m->ngroup; g++) {
        run->bin[g] = m->group[g].bin;
        run->key[g] = m->group[g].key;
        run->phi[g] = m->group[g].phi;
        known = known && !isnan(run->phi[g]);
    }
    in->bin = run->bin;
    in->key = run->key;
    in->phi = known ? run->phi : NULL;
}

static enum fit_status load_pairs(struct run *run, struct fit_error *err)
{
    struct fit_selection sel;
    fit_selection_from_config(run->cfg, &sel);
    if (!sel.path)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no data file; give experimental_data.file_path or --data",
                        run->cfg->file);
    enum fit_status st = estimate(run, &sel, err);
    if (st != FIT_OK)
        return st;
    double *setting = settings(run);
    if (!setting)
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    fit_progress_reading(&run->view, "loading", run->bytes);
    st = fit_measurement_load(&sel, run->k, setting, &run->m, err);
    fit_progress_clear(&run->view);
    free(setting);
    return st;
}

static enum fit_status load_rows(struct run *run, struct fit_error *err)
{
    const struct fit_config_input *in = &run->cfg->input;
    if (in->path.n == 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no table; give experimental_data.file_path or --data", run->cfg->file);
    double *setting = settings(run);
    if (!setting)
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    enum fit_status st =
        fit_table_load(in->path.value[0], &run->cfg->table, run->k, setting, &run->m, err);
    free(setting);
    return st;
}

static enum fit_status load(struct run *run, struct fit_error *err)
{
    double begin = fit_seconds();
    enum fit_status st = run->k->space == FIT_PAIRS ? load_pairs(run, err) : load_rows(run, err);
    if (st != FIT_OK)
        return st;
    run->r.load_seconds = fit_seconds() - begin;
    for (size_t k = 0; k < run->m->notes.n; k++)
        fit_notes_add(&run->notes, "%s", run->m->notes.text[k]);
    describe_input(run);
    say(run, "%s: layout %s, SHA-256 %s", run->m->file, run->m->layout, run->m->sha256);
    say(run, "%zu groups, %zu points, loaded in %.3f s%s", run->m->ngroup, run->m->dataset->npoint,
        run->r.load_seconds, fit_dataset_streamed(run->m->dataset) ? "; values stay in the file" : "");
    return FIT_OK;
}

/* ---- fit
 * -------------------------------------------------------------------------------------------- */

/* Values of a Fourier series that have left the bounds of the parameter. */
static void note_series(struct run *run)
{
    const struct fit_linkage *link = run->setup.link;
    for (size_t t = 0; link && t < link->ntied; t++) {
        const struct fit_linkage_tied *x = &link->tied[t];
        const struct fit_config_param *c = &run->cfg->param[x->inner];
        double v = fit_linkage_value(link, t, run->fit.theta, run->fit.lin);
        if (x->series && (v < c->lower.value || v > c->upper.value))
            fit_notes_add(&run->notes,
                          "%s of angle %ld is %.4g, outside of %.4g .. %.4g: of a Fourier series only the mean is "
                          "held inside the bounds",
                          x->param->name, x->group + 1, v, c->lower.value, c->upper.value);
    }
}

/* What a mode of scaling means here, where it could be taken for something else. */
static void note_scaling(struct run *run)
{
    const struct fit_config_scaling *s = &run->cfg->scaling;
    const enum fit_scaling mode = run->setup.options.scaling;
    int given = 1, spread = 0;
    for (size_t q = 0; q < run->model->nlinear; q++)
        given &= run->cfg->param[run->model->nparam + q].list.n > 0 || !run->cfg->param[run->model->nparam + q].automatic;
    if (mode == FIT_SCALING_CONSTANT && !given)
        fit_notes_add(&run->notes, "scaling constant: contrast and offset are held at quantiles of the data, as in the "
                                   "Python packages (contrast too large by 2.6 standard deviations of the noise, and "
                                   "more when the decay is slow); what is wrong with them goes into the other "
                                   "parameters, and not into their errors");
    if (!s->automatic && s->mode.value == FIT_SCALING_FOURIER && mode == FIT_SCALING_INDIVIDUAL)
        fit_notes_add(&run->notes, "scaling fourier of order %ld needs %ld different angles: contrast and offset are "
                                   "fitted for each of them (individual), as in the Python packages",
                      s->fourier_order.value, 2 * s->fourier_order.value + 1);
    if (mode == FIT_SCALING_HIERARCHICAL)
        fit_notes_add(&run->notes, "scaling hierarchical: values of the angles are drawn to their mean as their own "
                                   "spread asks for; `hierarchical` of the Python packages is a way of stepping, and "
                                   "ends at the values of individual scaling");
    for (size_t q = 0; mode == FIT_SCALING_HIERARCHICAL && q < run->fit.nlinear; q++) {
        const char *name = run->k->linear[q].name;
        spread |= !isnan(run->fit.spread[q]);
        if (run->fit.spread[q] > 0)
            fit_notes_add(&run->notes, "%s scatters over the angles with standard deviation %.3g", name,
                          run->fit.spread[q]);
        else if (run->fit.spread[q] == 0)
            fit_notes_add(&run->notes, "%s: no scatter over the angles beyond its errors: one value for all", name);
    }
    if (mode == FIT_SCALING_HIERARCHICAL && !spread)
        fit_notes_add(&run->notes, "no spread could be estimated: scaling is individual");
    note_series(run);
}

/* Where the Python packages would have answered otherwise; each once. */
static void note_peers(struct run *run)
{
    size_t n = fit_config_of_packages(run->k) ? run->fit.ngroup : 0;
    if (n && !run->cfg->compat.full_matrix.value)
        fit_notes_add(
            &run->notes,
            "each pair of frames counts once; the Python packages count both triangles and "
            "give errors that are too small by sqrt(2)");
    if (n && !run->average_noted && run->setup.options.scaling == FIT_SCALING_INDIVIDUAL &&
        fit_config_peers_average(run->cfg, n))
        fit_notes_add(
            &run->notes,
            "contrast and offset are fitted for each of %zu angles; homodyne would average "
            "them (--scaling averaged)",
            n);
}

/* Powers of t that cannot be told from constants, in a window that does not begin with the file. */
static void note_degenerate(struct run *run)
{
    const struct fit_config_input *in = &run->cfg->input;
    int any = 0;
    for (size_t k = 0; k < run->fit.ndegenerate; k++) {
        say(run, "not identified: %s", run->fit.degenerate[k].text);
        any |= run->k->degeneracy[run->fit.degenerate[k].which].kind == FIT_DEGENERATE_AT_VALUE;
    }
    if (any && run->k->space == FIT_PAIRS && run->m->first > 1 && in->time_origin.value == FIT_TIME_WINDOW)
        fit_notes_add(&run->notes,
                      "t = 0 is the first frame of the window, %ld; when the age counts from the first frame of "
                      "the file: analyzer_parameters.time_origin: file",
                      run->m->first);
}

static int on_progress(void *user, const struct fit_progress *p)
{
    struct run *run = user;
    if (p->phase)
        say(run, "%s", p->phase);
    else
        say(run, "iteration %zu: chi2 %.17g, step %.3g, distance %.3g", p->iteration, p->chi2, p->step,
        p->gradient);
    return fit_progress_show(&run->view, p);
}

/* Options, links and the kernel to fit with. */
static enum fit_status set_up(struct run *run, int shared, struct fit_error *err)
{
    struct fit_setup *s = &run->setup;
    fit_setup_free(s);
    enum fit_status st = fit_setup_options(run->cfg, run->model, run->m->dataset, run->m, s, err);
    if (st == FIT_OK)
        st = fit_setup_links(run->cfg, run->model, run->m->dataset, shared, s, err);
    run->k = s->link ? &s->link->kernel : run->model;
    s->options.progress = on_progress;
    s->options.progress_user = run;
    s->options.interrupt = run->p->interrupt;
    return st;
}

/* Values of groups begin at those of a fit in which all groups share them. */
static enum fit_status begin_shared(struct run *run, struct fit_error *err)
{
    struct fit_result shared;
    enum fit_status st = set_up(run, 1, err);
    if (st == FIT_OK)
        st = fit_run(run->k, run->m->dataset, &run->setup.options, &shared, err);
    if (st != FIT_OK)
        return st;
    say(run, "all groups with the same parameters: chi2 %.10g, %s", shared.chi2, fit_word_name(shared.status));
    struct fit_linkage *link = run->setup.link;
    run->setup.link = NULL;
    st = set_up(run, 0, err);
    if (st == FIT_OK)
        fit_setup_start_from(&run->setup, link, &shared);
    run->shared_seconds = shared.seconds.total;
    fit_linkage_free(link);
    fit_result_free(&shared);
    return st;
}

static enum fit_status fit(struct run *run, struct fit_error *err)
{
    enum fit_status st = set_up(run, 0, err);
    if (st != FIT_OK || run->cli->dry_run)
        return st;
    run->view.npoint = run->m->dataset->npoint;
    run->view.gtol = run->setup.options.gtol;
    fit_progress_phase(&run->view, "looking for starting points");
    if (run->setup.copies)
        st = begin_shared(run, err);
    if (st == FIT_OK)
        st = fit_study_profiles(run->cfg, run->k, run->setup.link, run->m->dataset->layout.ngroup, &run->profiles,
                                &run->setup.options.nlikelihood, err);
    run->setup.options.likelihood = run->profiles;
    if (st == FIT_OK)
        st = fit_run(run->k, run->m->dataset, &run->setup.options, &run->fit, err);
    if (st == FIT_OK)
        run->fit.seconds.start += run->shared_seconds;
    fit_progress_clear(&run->view);
    if (fit_dataset_status(run->m->dataset, err) != FIT_OK) {
        if (st == FIT_OK)
            fit_result_free(&run->fit);
        return err->status;
    }
    if (st != FIT_OK)
        return *run->p->interrupt
                   ? fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted before a first result")
                   : st;
    run->fitted = 1;
    note_degenerate(run);
    say(run, "%s: %s", fit_word_name(run->fit.status), run->fit.message);
    if (fit_dataset_streamed(run->m->dataset))
        fit_notes_add(&run->notes, "values were read from the file in every pass (--stream off holds them "
                                   "in memory)");
    note_peers(run);
    note_scaling(run);
    double begin = fit_seconds();
    fit_progress_phase(&run->view, "comparing data and model");
    st = fit_maps_new(run->k, run->m->dataset, &run->fit, run->fit.threads, &run->maps, err);
    fit_progress_clear(&run->view);
    run->r.maps_seconds = fit_seconds() - begin;
    return st;
}

/* ---- besides
 * ------------------------------------------------------------------------------------ */

static enum fit_status study(struct run *run, struct fit_error *err)
{
    const struct fit_config_study *c = &run->cfg->study;
    enum fit_status st = FIT_OK;
    struct fit_bootstrap_spec spec = {.kind = (enum fit_bootstrap_kind)c->bootstrap.value,
                                      .n = (size_t)c->replicates.value,
                                      .seed = (uint64_t)run->cfg->seed.value,
                                      .length = (size_t)run->cfg->robust.cluster_length.value,
                                      .joint = run->cfg->robust.cluster_joint.value,
                                      .threads = (int)run->cfg->threads.value,
                                      .most_mb = run->cfg->nlsq.memory_fraction.value * fit_memory_available_mb()};
    if (spec.kind != FIT_BOOTSTRAP_NONE) {
        fit_progress_phase(&run->view, "bootstrap");
        st = fit_bootstrap(run->k, run->m->dataset, &run->setup.options, &run->fit, &spec, &run->study.bootstrap, err);
    }
    if (st == FIT_OK && spec.kind != FIT_BOOTSTRAP_NONE)
        say(run, "bootstrap: %zu of %zu fits came to their end, %.3f s", run->study.bootstrap.good, spec.n,
            run->study.bootstrap.seconds);
    if (st == FIT_OK && c->sequence.value != FIT_SEQUENCE_NONE) {
        fit_progress_phase(&run->view, "every angle alone");
        st = fit_sequence(run->cfg, run->model, run->m->dataset, &run->setup, &run->fit, &run->study.sequence, err);
    }
    fit_progress_clear(&run->view);
    return st;
}

/* ---- posterior
 * -------------------------------------------------------------------------------------- */

static int on_sampling(void *user, const struct fit_sampling_progress *p)
{
    struct run *run = user;
    return fit_progress_sampling(&run->view, p);
}

/* The checkpoint stands in the output folder, which is made here. */
static enum fit_status prepare_checkpoint(struct run *run, struct fit_error *err)
{
    const struct fit_config_sampling *c = &run->cfg->sampling;
    struct fit_sampling_options *o = &run->posterior.options;
    struct fit_output out;
    if (o->method == FIT_SAMPLING_LAPLACE || !c->checkpoints.value)
        return FIT_OK;
    run->identity = fit_sampling_identity(&run->posterior.posterior, o, run->m->sha256);
    if (!run->identity)
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    snprintf(run->checkpoint, sizeof run->checkpoint, "%s/posterior.checkpoint", run->folder);
    enum fit_status st = fit_output_begin(&out, run->folder, err);
    fit_output_abandon(&out);
    o->checkpoint = run->checkpoint;
    o->identity = run->identity;
    o->resume = run->cli->resume ? FIT_RESUME
                : c->resume.value ? FIT_RESUME_UNFINISHED
                                  : FIT_RESUME_NO;
    return st;
}

static void say_how_it_began(struct run *run)
{
    const struct fit_samples *s = &run->samples;
    if (s->resumed > 0)
        fit_notes_add(&run->notes, s->consensus ? "sampling went on from %s after %.0f shards"
                                                : "the chains went on from %s after %.0f iterations",
                      run->checkpoint, s->resumed);
    else if (run->posterior.options.resume == FIT_RESUME)
        fit_notes_add(&run->notes, "--resume: there was no %s; the chains began anew", run->checkpoint);
    if (s->checkpoint_error[0])
        fit_notes_add(&run->notes, "no checkpoint: %s", s->checkpoint_error);
}

/* What is left of --max-seconds for the chains; at most 0: nothing.  Least squares that were cut
 * short are no place to begin from: a checkpoint of such a run would go on from a wrong point. */
static double time_left(const struct run *run)
{
    double limit = run->posterior.options.max_seconds;
    return limit > 0 ? limit - (fit_seconds() - run->clock) : INFINITY;
}

static void no_posterior(struct run *run, const char *why)
{
    snprintf(run->no_posterior, sizeof run->no_posterior, "%.500s", why);
    fit_notes_add(&run->notes, "no posterior: %s", run->no_posterior);
}

/* The priors of the parameters that are sampled. */
static void say_priors(struct run *run)
{
    const struct fit_kernel *k = run->k;
    char text[256];
    for (size_t n = 0; n < k->nparam + k->nlinear; n++) {
        const struct fit_posterior_param *x = &run->posterior.param[n];
        if (x->fixed)
            continue;
        fit_sampling_prior_text(x, text, sizeof text);
        say(run, "prior of %s: %s", n < k->nparam ? k->param[n].name : k->linear[n - k->nparam].name, text);
    }
}

/* A posterior that was ended before it had draws is no error: the least-squares result is there to be written. */
static enum fit_status sample(struct run *run, struct fit_error *err)
{
    struct fit_sampling_setup *s = &run->posterior;
    enum fit_status st = fit_sampling_setup(run->cfg, run->k, run->m->dataset, &run->setup, &run->fit, s, err);
    if (st == FIT_OK && time_left(run) <= 0) {
        no_posterior(run, "the time limit was reached by the least-squares fit");
        return FIT_OK;
    }
    if (st == FIT_OK)
        st = prepare_checkpoint(run, err);
    if (st != FIT_OK)
        return st;
    fit_sampling_notes(run->cfg, s->options.method, &run->notes);
    s->options.progress = on_sampling;
    s->options.progress_user = run;
    s->options.interrupt = run->p->interrupt;
    s->options.max_seconds = isfinite(time_left(run)) ? fmax(time_left(run), 1e-6) : 0;
    say_priors(run);
    fit_progress_phase(&run->view, "looking for the mode of the posterior");
    st = fit_sample(&s->posterior, &run->fit, &s->options, &run->samples, err);
    fit_progress_clear(&run->view);
    if (fit_dataset_status(run->m->dataset, err) != FIT_OK)
        st = err->status;
    run->sampled = st == FIT_OK;
    if (run->sampled) {
        say_how_it_began(run);
        say(run, "posterior %s: %s; %.0f gradients in %.3f s", fit_verdict_word(run->samples.verdict),
            run->samples.verdict_text, run->samples.gradients, run->samples.seconds.total);
    }
    int unconverged = st == FIT_ERR_NUMERIC && s->options.method == FIT_SAMPLING_CONSENSUS; /* a shard, by name */
    if (st != FIT_ERR_INTERRUPTED && !unconverged)
        return st;
    no_posterior(run, err->message);
    return FIT_OK;
}

/* ---- results
 * ---------------------------------------------------------------------------------------- */

static void gather(struct run *run, time_t begin)
{
    struct fit_results *r = &run->r;
    r->program = run->p->name;
    r->command_line = run->command_line;
    gethostname(r->host, sizeof r->host - 1);
    r->begin = begin;
    r->end = time(NULL);
    r->kernel = run->k;
    r->link = run->setup.link;
    r->scaling = run->setup.options.scaling;
    r->config = run->cfg;
    r->config_text = run->config_text;
    r->input = &run->input;
    r->ds = run->m->dataset;
    r->fit = &run->fit;
    r->std_robust = run->fit.robust.kind != FIT_ROBUST_NONE ? run->fit.std_robust : NULL;
    r->study = &run->study;
    r->samples = run->sampled ? &run->samples : NULL;
    r->no_samples = run->no_posterior[0] ? run->no_posterior : NULL;
    r->maps = run->maps;
    r->peak_mb = fit_memory_peak_mb();
    r->nnote = run->notes.n;
    r->note = run->notes.text;
    r->folder = run->folder;
}

static enum fit_status add_text(struct fit_output *out, const char *name, char *text,
                                struct fit_error *err)
{
    enum fit_status st = text ? fit_output_add_text(out, name, text, strlen(text), err)
                              : fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory", name);
    free(text);
    return st;
}

static char *summary_text(const struct fit_results *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fit_write_summary(r, f);
    fit_study_summary(r, f);
    fit_write_posterior_summary(r, f);
    for (size_t k = 0; k < r->nnote; k++)
        fprintf(f, "note: %s\n", r->note[k]);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static char *runlog_text(struct run *run)
{
    for (size_t k = 0; k < run->notes.n; k++)
        say(run, "note: %s", run->notes.text[k]);
    say(run, "written to %s; %.0f MB at most", run->folder, run->r.peak_mb);
    if (!run->log_file || fflush(run->log_file) != 0)
        return NULL;
    return run->runlog ? strdup(run->runlog) : NULL;
}

/* The posterior in homodyne's own files, with `compat: homodyne`. */
static enum fit_status write_peer_files(const struct run *run, struct fit_error *err)
{
    char folder[sizeof run->folder + 8];
    if (!run->sampled || !run->cfg->compat.files.value ||
        run->cfg->compat.peer.value != FIT_PEER_HOMODYNE)
        return FIT_OK;
    snprintf(folder, sizeof folder, "%s/cmc", run->folder);
    return fit_write_cmc(&run->r, folder, err);
}

/* The large file first, so that its time is known to the others. */
static enum fit_status write_files(struct run *run, struct fit_error *err)
{
    struct fit_output out;
    const char *path = NULL;
    double begin = fit_seconds();
    enum fit_status st = fit_output_begin(&out, run->folder, err);
    if (st != FIT_OK)
        return st;
    st = fit_output_add(&out, "fit.h5", &path, err);
    if (st == FIT_OK)
        st = fit_write_hdf5(&run->r, path, err);
    if (st == FIT_OK && run->sampled)
        st = fit_output_add(&out, "posterior.nc", &path, err);
    if (st == FIT_OK && run->sampled)
        st = fit_write_posterior(&run->r, path, err);
    run->r.write_seconds = fit_seconds() - begin;
    run->r.wall_seconds = fit_seconds() - run->clock;
    run->r.peak_mb = fit_memory_peak_mb();
    if (st == FIT_OK)
        st = add_text(&out, "fit.json", fit_write_json(&run->r), err);
    if (st == FIT_OK)
        st = add_text(&out, "summary.txt", summary_text(&run->r), err);
    if (st == FIT_OK && run->study.sequence.n)
        st = add_text(&out, "sequence.csv", fit_study_csv(&run->r), err);
    if (st == FIT_OK && run->config_text)
        st = fit_output_add_text(&out, "config.effective.yaml", run->config_text,
                                 strlen(run->config_text), err);
    if (st == FIT_OK)
        st = add_text(&out, "run.log", runlog_text(run), err);
    if (st == FIT_OK)
        st = write_peer_files(run, err);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}

/* Was the note a line of the last run's log? */
static int is_told(const struct run *run, const char *note)
{
    size_t n = strlen(note);
    for (const char *s = run->last_log; s && (s = strstr(s, note)) != NULL; s += n)
        if (s[n] == '\n' && s - run->last_log >= 6 && strncmp(s - 6, "note: ", 6) == 0)
            return 1;
    return 0;
}

/* A note: on a terminal in lines of 80, for other programs in one. */
static void put_note(const struct fit_program *p, const char *text)
{
    static const char head[] = "note: ";
    fputs(head, p->err);
    if (p->err_is_terminal)
        fit_cli_put_wrapped(p->err, text, sizeof head - 1);
    else
        fprintf(p->err, "%s\n", text);
}

/* On the screen those that are new; all are in summary.txt, fit.json and run.log. */
static void print_notes(const struct run *run)
{
    enum { MOST = 8 };
    size_t printed = 0, same = 0, left = 0;
    for (size_t k = 0; k < run->notes.n; k++) {
        if (!run->cli->verbose && is_told(run, run->notes.text[k]))
            same++;
        else if (run->cli->verbose || printed < MOST)
            printed++, put_note(run->p, run->notes.text[k]);
        else
            left++;
    }
    if (left)
        fprintf(run->p->err, "note: %zu more in %s/run.log\n", left, run->folder);
    if (same)
        fprintf(run->p->err, "note: %zu as in the last fit, see %s/run.log\n", same, run->folder);
}

static enum fit_status print_results(struct run *run, struct fit_error *err)
{
    FILE *f = run->p->out;
    if (run->cli->json) {
        char *text = fit_write_json(&run->r);
        if (!text)
            return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
        fputs(text, f);
        free(text);
        return FIT_OK;
    }
    if (run->cli->quiet)
        return FIT_OK;
    fit_write_summary(&run->r, f);
    fit_study_summary(&run->r, f);
    fit_write_posterior_summary(&run->r, f);
    print_notes(run);
    return FIT_OK;
}

static void print_dry_run(const struct run *run)
{
    const struct fit_measurement *m = run->m;
    for (size_t k = 0; k < run->notes.n; k++)
        put_note(run->p, run->notes.text[k]);
    fprintf(run->p->out,
            "%s: %zu groups, frames %ld..%ld, dt %g s, %zu points; would be written to %s\n",
            m->file, m->ngroup, m->first, m->last, m->dt, m->dataset->npoint, run->folder);
}

static void release(struct run *run)
{
    fit_progress_clear(&run->view);
    fit_maps_free(run->maps);
    if (run->sampled)
        fit_samples_free(&run->samples);
    fit_sampling_setup_free(&run->posterior);
    if (run->fitted)
        fit_result_free(&run->fit);
    fit_study_free(&run->study);
    free(run->profiles);
    fit_setup_free(&run->setup);
    fit_measurement_free(run->m);
    fit_config_free(run->cfg);
    fit_config_log_free(&run->log);
    fit_notes_free(&run->notes);
    if (run->log_file)
        fclose(run->log_file);
    if (run->log_copy)
        fclose(run->log_copy);
    free(run->last_log);
    free(run->runlog);
    free(run->command_line);
    free(run->config_text);
    free(run->identity);
    free(run->bin);
    free(run->key);
    free(run->phi);
}

/* 0 converged, 2 finished without, 130 ended by a signal. */
static int exit_code(const struct run *run)
{
    const struct fit_samples *s = &run->samples;
    if (run->fit.status == FIT_INTERRUPTED || (run->sampled && s->end == FIT_SAMPLING_STOPPED) ||
        (run->no_posterior[0] && *run->p->interrupt))
        return fit_status_exit(FIT_ERR_INTERRUPTED);
    if (fit_sampling_wanted(run->cfg))
        return run->sampled && s->complete && s->verdict != FIT_VERDICT_FAILED ? 0 : 2;
    return run->fit.converged ? 0 : 2;
}

enum fit_status fit_cmd_fit(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    struct run run = {.p = p, .cli = cli, .clock = fit_seconds()};
    time_t begin = time(NULL);
    if (cli->profile_time)
        fit_clock_start();
    fit_config_log_init(&run.log);
    run.log_file = open_memstream(&run.runlog, &run.runlog_size);
    run.command_line = fit_command_line(p->argc, p->argv);
    enum fit_status st = configure(&run, err);
    if (st == FIT_OK)
        st = load(&run, err);
    if (st == FIT_OK)
        st = fit(&run, err);
    if (st == FIT_OK && cli->dry_run) {
        print_dry_run(&run);
        goto done;
    }
    if (st == FIT_OK && run.fit.status != FIT_INTERRUPTED)
        st = study(&run, err);
    if (st == FIT_OK && fit_sampling_wanted(run.cfg) && run.fit.status != FIT_INTERRUPTED)
        st = sample(&run, err);
    if (st == FIT_OK) {
        gather(&run, begin);
        enum fit_clock was = fit_clock_enter(FIT_CLOCK_WRITE);
        st = write_files(&run, err);
        fit_clock_enter(was);
    }
    if (st == FIT_OK)
        st = print_results(&run, err);
    if (st == FIT_OK)
        p->exit_code = exit_code(&run);
    if (st == FIT_OK && cli->profile_time)
        fit_clock_print(p->err);
done:
    release(&run);
    return st;
}
