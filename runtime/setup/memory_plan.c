/* memory_plan.c -- the memory that a fit needs; see memory_plan.h. */
#include "setup/memory_plan.h"

#include "input/joint.h"
#include "input/measurement.h"
#include "leastsquares/objective.h"
#include "machine/memory.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PROGRAM_MB 40 /* libraries, tables, maps of the results: measured */
#define LEAST_MB 50   /* for the data, however small the limit: streaming needs memory, too */

/* In addition to one process: the MPI library, and the contributions of a rank's tiles to the robust errors, which
 * are kept until they are sent to the others (errors/scores_pairs.c): edges and rows, and scores of 9 unknowns for
 * each block. */
static double rank_mb(const struct fit_memory_plan *p, size_t ranks)
{
    static const double LIBRARY = 30, EDGES = 0.13, SCORES = 19, BLOCKS = 192; /* the first two measured */
    const double side = ceil((double)p->frames / BLOCKS);
    return LIBRARY + 8e-6 * p->points * (EDGES + SCORES / (side * side)) / (double)ranks;
}

double fit_memory_plan_rank(const struct fit_memory_plan *p, size_t ranks, int divided)
{
    if (ranks < 2)
        return p->streamed ? p->streamed_mb : p->held_mb;
    if (p->streamed || !divided || p->weighted)
        return rank_mb(p, ranks) + (p->streamed ? p->streamed_mb : p->held_mb);
    return rank_mb(p, ranks) + PROGRAM_MB +
           (double)fit_measurement_memory_of_rank(p->file_frames, p->frames, p->ngroup, ranks) / 1e6;
}

static void decide(const struct fit_selection *sel, double fraction, int weighted,
                   struct fit_memory_plan *p)
{
    p->points = 0.5 * (double)p->frames * (double)(p->frames - 1) * (double)p->ngroup;
    p->held_mb =
        PROGRAM_MB +
        (double)fit_measurement_memory(p->file_frames, p->frames, p->ngroup, weighted) / 1e6;
    p->weighted = weighted;
    p->held_mb = fit_memory_plan_rank(p, fit_ranks_size(), sel->divide && fit_ranks_shared());
    p->streamed_mb =
        PROGRAM_MB + (double)fit_measurement_memory_streamed(p->frames, p->ngroup, weighted) / 1e6;
    p->streamed_mb += fit_ranks_shared() ? rank_mb(p, fit_ranks_size()) : 0;
    p->available_mb = fit_ranks_least(fit_memory_available_mb()); /* all ranks stream, or none */
    p->limit_mb = fraction > 0 ? fraction * p->available_mb : NAN;
    if (p->limit_mb > 0)
        p->data_limit = (size_t)(1e6 * fmax(p->limit_mb - PROGRAM_MB, LEAST_MB));
    p->streamed = sel->stream == FIT_STREAM_AUTO
                      ? p->data_limit && p->held_mb - PROGRAM_MB > 1e-6 * (double)p->data_limit
                      : sel->stream == FIT_STREAM_ON;
}

enum fit_status fit_memory_plan(const struct fit_selection *sel, double fraction,
                                struct fit_memory_plan *plan, struct fit_error *err)
{
    struct fit_source *src = NULL;
    size_t *index = NULL, first = 0;
    struct fit_notes notes = {0}; /* the same ones are reported again with the data */
    *plan = (struct fit_memory_plan){0};
    enum fit_status st = fit_source_open(sel->path, &sel->wish, &src, err);
    if (st == FIT_OK)
        st = fit_select_matrices(src, sel, &index, &plan->ngroup, &notes, err);
    if (st == FIT_OK)
        st = fit_select_window(src, sel, &first, &plan->frames, &notes, err);
    if (st == FIT_OK) {
        plan->file_frames = src->nframe;
        plan->nmatrix = src->nmatrix;
        decide(sel, fraction, sel->sigma == FIT_SIGMA_FILE || src->has_sigma, plan);
    }
    free(index);
    fit_notes_free(&notes);
    fit_source_close(src);
    return st;
}

static void add_file(struct fit_memory_plan *all, const struct fit_memory_plan *one)
{
    all->ngroup += one->ngroup;
    all->nmatrix += one->nmatrix;
    all->file_frames = one->file_frames > all->file_frames ? one->file_frames : all->file_frames;
    all->frames = one->frames > all->frames ? one->frames : all->frames;
    all->points += one->points;
    all->held_mb += one->held_mb - PROGRAM_MB;
}

enum fit_status fit_memory_plan_files(const struct fit_config *cfg, struct fit_selection *sel,
                                      struct fit_memory_plan *plan, struct fit_error *err)
{
    const size_t n = cfg->input.path.n;
    const double fraction = cfg->nlsq.memory_fraction.value;
    enum fit_status st = FIT_OK;
    for (size_t f = 0; f < n && n > 1 && st == FIT_OK; f++) {
        struct fit_memory_plan one;
        fit_joint_selection(cfg, f, sel);
        st = fit_memory_plan(sel, fraction, f ? &one : plan, err);
        if (f && st == FIT_OK)
            add_file(plan, &one);
    }
    if (n < 2) {
        const int divide = sel->divide;
        fit_selection_from_config(cfg, sel);
        sel->divide = divide;
        return fit_memory_plan(sel, fraction, plan, err);
    }
    if (st != FIT_OK)
        return st;
    fit_joint_selection(cfg, 0, sel);
    if (plan->held_mb > plan->limit_mb)
        return fit_fail(err, FIT_ERR_MEMORY,
                        "%zu data files are fitted from memory: %.0f MB are needed, %.0f MB are allowed; take fewer "
                        "frames or angles, or fewer files",
                        n, plan->held_mb, plan->limit_mb);
    return FIT_OK;
}

void fit_memory_plan_loss(struct fit_memory_plan *plan, enum fit_loss loss)
{
    if (loss != FIT_LOSS_LINEAR && plan->points <= FIT_OBJECTIVE_KEPT)
        plan->held_mb += 2 * sizeof(double) * plan->points / 1e6;
}

double fit_memory_plan_bytes(const struct fit_selection *sel, const struct fit_memory_plan *plan)
{
    static const double looks = 2.7; /* number of times that values in the file are read, measured */
    struct stat s;
    if (stat(sel->path, &s) != 0 || plan->nmatrix == 0)
        return NAN;
    const double share = (double)plan->ngroup / (double)plan->nmatrix;
    return (double)s.st_size * (1 + share * (plan->streamed ? looks : 1));
}
