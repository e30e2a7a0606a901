/* fit_notes.c -- notes on a finished fit: the scaling mode, differences from the answers of the Python packages,
 * parameters that are not identified. */
#include "commands/fit_job.h"

#include <math.h>
#include <string.h>

/* Values of a Fourier series that have left the bounds of the parameter. */
static void note_series(struct fit_job *job)
{
    const struct fit_linkage *link = job->setup.link;
    for (size_t t = 0; link && t < link->ntied; t++) {
        const struct fit_linkage_tied *x = &link->tied[t];
        const struct fit_config_param *c = &job->cfg->param[x->inner];
        double v = fit_linkage_value(link, t, job->fit.theta, job->fit.lin);
        if (x->series && (v < c->lower.value || v > c->upper.value))
            fit_notes_add(&job->notes,
                          "%s of angle %ld is %.4g, outside of %.4g .. %.4g: of a Fourier series "
                          "only the mean is held inside the bounds",
                          x->param->name, x->group + 1, v, c->lower.value, c->upper.value);
    }
}

static void note_hierarchical(struct fit_job *job)
{
    int spread = 0;
    fit_notes_add(&job->notes, "scaling hierarchical: values of the angles are drawn to their mean as their own "
                               "spread asks for; `hierarchical` of the Python packages is a way of stepping, and "
                               "ends at the values of individual scaling");
    for (size_t q = 0; q < job->fit.nlinear; q++) {
        const char *name = job->k->linear[q].name;
        spread |= !isnan(job->fit.spread[q]);
        if (job->fit.spread[q] > 0)
            fit_notes_add(&job->notes, "%s scatters over the angles with standard deviation %.3g", name,
                          job->fit.spread[q]);
        else if (job->fit.spread[q] == 0)
            fit_notes_add(&job->notes, "%s: no scatter over the angles beyond its errors: one value for all", name);
    }
    if (!spread)
        fit_notes_add(&job->notes, "no spread could be estimated: scaling is individual");
}

/* The meaning of a scaling mode where it could be misunderstood. */
static void note_scaling(struct fit_job *job)
{
    const struct fit_config_scaling *s = &job->cfg->scaling;
    const enum fit_scaling mode = job->setup.options.scaling;
    int given = 1;
    for (size_t q = 0; q < job->model->nlinear; q++)
        given &= job->cfg->param[job->model->nparam + q].list.n > 0 ||
                 !job->cfg->param[job->model->nparam + q].automatic;
    if (mode == FIT_SCALING_CONSTANT && !given)
        fit_notes_add(
            &job->notes,
            "scaling constant: contrast and offset are held at quantiles of the data, as in the "
            "Python packages (contrast too large by 2.6 standard deviations of the noise, and "
            "more when the decay is slow); what is wrong with them goes into the other "
            "parameters, and not into their errors");
    if (!s->automatic && s->mode.value == FIT_SCALING_FOURIER && mode == FIT_SCALING_INDIVIDUAL)
        fit_notes_add(
            &job->notes,
            "scaling fourier of order %ld needs %ld different angles: contrast and offset are "
            "fitted for each of them (individual), as in the Python packages",
            s->fourier_order.value, 2 * s->fourier_order.value + 1);
    if (mode == FIT_SCALING_HIERARCHICAL)
        note_hierarchical(job);
    note_series(job);
}

/* Cases in which the Python packages would have given other answers; each once. */
static void note_peers(struct fit_job *job)
{
    size_t n = job->k->peer ? job->fit.ngroup : 0;
    if (n && !job->cfg->compat.full_matrix.value)
        fit_notes_add(
            &job->notes,
            "each pair of frames counts once; the Python packages count both triangles and "
            "give errors that are too small by sqrt(2)");
    if (n && !job->cfg->scaling.average_noted && job->setup.options.scaling == FIT_SCALING_INDIVIDUAL &&
        fit_config_peers_average(job->cfg, n))
        fit_notes_add(
            &job->notes,
            "contrast and offset are fitted for each of %zu angles; the Python package %s would average "
            "them (--scaling averaged)",
            n, fit_peer_names[job->k->peer]);
}

/* Powers of t that cannot be distinguished from constants, in a window that does not begin with the file. */
static void note_degenerate(struct fit_job *job)
{
    const struct fit_config_input *in = &job->cfg->input;
    int any = 0;
    for (size_t k = 0; k < job->fit.ndegenerate; k++) {
        fit_job_say(job, "not identified: %s", job->fit.degenerate[k].text);
        any |= job->k->degeneracy[job->fit.degenerate[k].which].kind == FIT_DEGENERATE_AT_VALUE;
    }
    if (any && job->k->space == FIT_PAIRS && job->m->first > 1 &&
        in->time_origin.value == FIT_TIME_WINDOW)
        fit_notes_add(&job->notes,
                      "t = 0 is the first frame of the window, %ld; when the age counts from the "
                      "first frame of the file: analyzer_parameters.time_origin: file",
                      job->m->first);
}

/* A velocity of more than half a turn of phase a frame, and the like. */
static void note_aliased(struct fit_job *job)
{
    const size_t e = job->fit.aliased;
    if (e < job->fit.nparam)
        fit_notes_add(&job->notes,
                      "%s = %.4g: the model turns back between one frame and the next, wherever it depends on %s; "
                      "values that differ by full turns a frame (aliases) fit as well or nearly so: bound it by what "
                      "is known",
                      job->k->param[e].name, job->fit.theta[e], job->k->param[e].name);
}

void fit_job_note_result(struct fit_job *job)
{
    note_degenerate(job);
    note_aliased(job);
    fit_job_say(job, "%s: %s", fit_word_name(job->fit.status), job->fit.message);
    if (fit_dataset_streamed(job->m->dataset))
        fit_notes_add(&job->notes,
                      "values were read from the file in every pass (--stream off holds them "
                      "in memory)");
    note_peers(job);
    note_scaling(job);
}
