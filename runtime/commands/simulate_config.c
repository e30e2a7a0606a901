/* simulate_config.c -- from the configuration of a fit to the options of `simulate`; see simulate_config.h. */
#include "commands/simulate_config.h"

#include "config/config.h"
#include "input/select.h"
#include "input/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME=VALUE for every parameter with a start in the configuration, before those of the command line. */
static enum fit_status add_parameters(struct fit_cli *cli, const struct fit_config *cfg,
                                      struct fit_error *err)
{
    struct fit_cli_pair *all = calloc(cli->nchange + cfg->nparam + 1, sizeof *all);
    size_t n = 0;
    if (!all)
        return fit_no_memory(err, "simulate");
    for (size_t k = 0; k < cfg->nparam; k++) {
        const struct fit_config_param *p = &cfg->param[k];
        char *text = p->automatic ? NULL : fit_cli_keep(cli, 160);
        if (p->automatic)
            continue;
        if (!text) {
            free(all);
            return fit_no_memory(err, "simulate");
        }
        snprintf(text, 160, "%.100s=%.17g", p->declared->name, p->start.value);
        all[n++] = (struct fit_cli_pair){"set", text};
    }
    for (size_t k = 0; k < cli->nchange; k++)
        all[n++] = cli->change[k];
    free(cli->change);
    cli->change = all;
    cli->nchange = n;
    return FIT_OK;
}

static enum fit_status add_linear(const struct fit_config *cfg, const char *name, size_t *n,
                                  double **value, struct fit_error *err)
{
    for (size_t k = cfg->nparam; k < cfg->nparam + cfg->nlinear; k++) {
        const struct fit_config_param *p = &cfg->param[k];
        if (*n || p->automatic || strcmp(p->declared->name, name) != 0)
            continue;
        const size_t many = p->list.n ? p->list.n : 1;
        *value = malloc(many * sizeof **value);
        if (!*value)
            return fit_no_memory(err, "simulate");
        for (size_t i = 0; i < many; i++)
            (*value)[i] = p->list.n ? p->list.value[i] : p->start.value;
        *n = many;
    }
    return FIT_OK;
}

static enum fit_status take_list(size_t n, const double *from, size_t *count, double **to, struct fit_error *err)
{
    double *all = malloc((n + 1) * sizeof *all);
    if (!all)
        return fit_no_memory(err, "simulate");
    memcpy(all, from, n * sizeof *from);
    free(*to);
    *to = all;
    *count = n;
    return FIT_OK;
}

/* Wavevectors (if q is an axis) and azimuths of the matrices that the fit would read: all q must have the same
 * azimuths. */
static enum fit_status take_groups(struct fit_cli *cli, const struct fit_source *src, int q_is_axis,
                                   const size_t *index, size_t n, struct fit_error *err)
{
    double *phi = malloc((2 * n + 1) * sizeof *phi), *q = phi + n;
    size_t nphi = 0, nq = 0;
    enum fit_status st = phi ? FIT_OK : fit_no_memory(err, "simulate");
    for (size_t k = 0; k < n && st == FIT_OK; k++) {
        const struct fit_source_matrix *m = &src->matrix[index[k]];
        const double one = isnan(m->phi) ? 0 : m->phi;
        if (!nq || (q_is_axis && fabs(m->q - q[nq - 1]) > 1e-9 * q[nq - 1])) /* as select.c has it */
            q[nq++] = m->q;
        if (nq == 1)
            phi[nphi++] = one;
        else if (k % nphi >= nphi || fabs(one - phi[k % nphi]) > 1e-9)
            st = fit_fail(err, FIT_ERR_USAGE, "%s: its q have different azimuths; give --q and --phi", src->file);
    }
    if (st == FIT_OK && n != nq * nphi)
        st = fit_fail(err, FIT_ERR_USAGE, "%s: its q have different azimuths; give --q and --phi", src->file);
    if (st == FIT_OK && !cli->nphi)
        st = take_list(nphi, phi, &cli->nphi, &cli->phi, err);
    if (st == FIT_OK && q_is_axis && !cli->nq && nq && !isnan(q[0]))
        st = take_list(nq, q, &cli->nq, &cli->q_list, err);
    free(phi);
    return st;
}

/* Frames, period and azimuths of the data that the fit would read; missing data are no error. */
static enum fit_status take_data(struct fit_cli *cli, const struct fit_config *cfg,
                                 struct fit_error *err)
{
    struct fit_selection sel;
    struct fit_source *src = NULL;
    struct fit_notes notes = {0};
    size_t *index = NULL, n = 0, first = 0, frames = 0;
    double dt = NAN;
    enum fit_status st = FIT_OK;
    fit_selection_from_config(cfg, &sel);
    if (!sel.path || fit_source_open(sel.path, &sel.wish, &src, NULL) != FIT_OK)
        return FIT_OK;
    if (fit_select_matrices(src, &sel, &index, &n, &notes, NULL) == FIT_OK && n)
        st = take_groups(cli, src, sel.all_q, index, n, err);
    if (!cli->frames && fit_select_window(src, &sel, &first, &frames, &notes, NULL) == FIT_OK)
        cli->frames = frames;
    if (isnan(cli->dt) && fit_select_dt(src, &sel, &dt, &notes, NULL) == FIT_OK)
        cli->dt = dt;
    free(index);
    fit_notes_free(&notes);
    fit_source_close(src);
    return st;
}

static enum fit_status fill(struct fit_cli *cli, const struct fit_config *cfg, struct fit_error *err)
{
    const struct fit_config_input *in = &cfg->input;
    enum fit_status st = FIT_OK;
    cli->dt = isnan(cli->dt) ? in->dt.value : cli->dt;
    cli->gap = isnan(cli->gap) ? in->gap.value : cli->gap;
    if (!cli->nphi && cfg->angles.list.n)
        st = take_list(cfg->angles.list.n, cfg->angles.list.value, &cli->nphi, &cli->phi, err);
    if (st == FIT_OK && !cli->nq && in->q_list.n)
        st = take_list(in->q_list.n, in->q_list.value, &cli->nq, &cli->q_list, err);
    else if (st == FIT_OK && !cli->nq && !isnan(in->q.value))
        st = take_list(1, &in->q.value, &cli->nq, &cli->q_list, err);
    if (st == FIT_OK)
        st = take_data(cli, cfg, err);
    if (!cli->frames && in->end_frame.value >= in->start_frame.value)
        cli->frames = (uint64_t)(in->end_frame.value - in->start_frame.value + 1);
    if (st == FIT_OK)
        st = add_linear(cfg, "contrast", &cli->ncontrast, &cli->contrast, err);
    if (st == FIT_OK)
        st = add_linear(cfg, "offset", &cli->noffset, &cli->offset, err);
    if (st == FIT_OK)
        st = add_parameters(cli, cfg, err);
    if (st == FIT_OK && !cli->frames)
        st = fit_fail(err, FIT_ERR_USAGE, "%s does not say how many frames; give --frames N", cfg->file);
    if (st == FIT_OK && !cli->nphi && fit_config_axis_index(cfg->kernel, "phi") >= 0)
        st = fit_fail(err, FIT_ERR_USAGE, "%s names no azimuths; give --phi D1,D2,..", cfg->file);
    return st;
}

enum fit_status fit_simulate_config(struct fit_cli *cli, const struct fit_kernel *kernel,
                                    struct fit_error *err)
{
    struct fit_config *cfg = NULL;
    if (kernel->space != FIT_PAIRS)
        return fit_fail(err, FIT_ERR_USAGE,
                        "simulate: '%s': a model of tables takes --x and --set, not a configuration",
                        cli->word[0]);
    enum fit_status st = fit_config_read(cli->word[0], kernel, NULL, NULL, &cfg, err);
    if (st == FIT_OK)
        st = fill(cli, cfg, err);
    fit_config_free(cfg);
    return st;
}
