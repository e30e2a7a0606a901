/* memory_plan.c -- what a fit takes of the memory; see memory_plan.h. */
#include "setup/memory_plan.h"

#include "input/measurement.h"
#include "leastsquares/objective.h"
#include "machine/memory.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PROGRAM_MB 40 /* libraries, tables, maps of the results: measured */
#define LEAST_MB 50   /* for the data, however small the limit: streaming takes something too */

static void decide(const struct fit_selection *sel, double fraction, int weighted,
                   struct fit_memory_plan *p)
{
    p->points = 0.5 * (double)p->frames * (double)(p->frames - 1) * (double)p->ngroup;
    p->held_mb =
        PROGRAM_MB +
        (double)fit_measurement_memory(p->file_frames, p->frames, p->ngroup, weighted) / 1e6;
    p->streamed_mb =
        PROGRAM_MB + (double)fit_measurement_memory_streamed(p->frames, p->ngroup, weighted) / 1e6;
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
    struct fit_notes notes = {0}; /* the same ones come again with the data */
    *plan = (struct fit_memory_plan){0};
    enum fit_status st = fit_source_open(sel->path, sel->layout, &src, err);
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

void fit_memory_plan_loss(struct fit_memory_plan *plan, enum fit_loss loss)
{
    if (loss != FIT_LOSS_LINEAR && plan->points <= FIT_OBJECTIVE_KEPT)
        plan->held_mb += 2 * sizeof(double) * plan->points / 1e6;
}

double fit_memory_plan_bytes(const struct fit_selection *sel, const struct fit_memory_plan *plan)
{
    static const double looks = 2.7; /* times that values are read which stay in the file, measured */
    struct stat s;
    if (stat(sel->path, &s) != 0 || plan->nmatrix == 0)
        return NAN;
    const double share = (double)plan->ngroup / (double)plan->nmatrix;
    return (double)s.st_size * (1 + share * (plan->streamed ? looks : 1));
}
