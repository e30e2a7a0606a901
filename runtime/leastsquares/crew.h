/* crew.h -- copies of a fit, for independent pieces of work in parallel.
 *
 * A pass over few data is too short to be shared among threads, and exploring the cost around a minimum takes thousands
 * of them. Where the work consists of independent pieces (profiles of parameters, valleys, rivals) each thread takes
 * whole pieces, with its own objective and optimiser whose passes it makes alone. For many data the pieces follow one
 * another, and all threads share every pass.
 *
 *     struct fit_crew crew;
 *     if ((st = fit_crew_new(f, &crew)) == FIT_OK)
 *         st = fit_crew_run(&crew, n, work, user);
 *     fit_crew_free(&crew);
 *
 * The result of a piece must not depend on the others, nor on the member that does it: it writes to memory of its own,
 * which the caller merges in the order of the pieces. Then the result has the same bits for any number of threads.
 */
#pragma once

#include "leastsquares/fit_impl.h"

struct fit_crew {
    struct fit_ls *f;
    size_t n;              /* members */
    struct fit_ls *member; /* each with its own obj, nlsq, theta, second, better, axis and err; the rest is that of
                            * f, and only read */
    struct fit_arena storage;
};

/* For as long as f keeps its data and weights.  fit_crew_free() also after a failure. */
enum fit_status fit_crew_new(struct fit_ls *f, struct fit_crew *crew);
/* Passes of the members count as those of f, and so does running out of time. */
void fit_crew_free(struct fit_crew *crew);

/* Piece k, done by `own`, member number m of the crew. When it begins, own->found_lower and own->over are 0, and
 * own->curvature is that of f. */
typedef enum fit_status fit_crew_work(void *user, struct fit_ls *own, size_t m, size_t k);

/* Does all pieces k < n, or those before the first that fails; its error. */
enum fit_status fit_crew_run(struct fit_crew *crew, size_t n, fit_crew_work *work, void *user);

/* Merges the result of piece k while no other merge runs: each piece in turn, when it and all earlier ones are done. */
typedef void fit_crew_merge(void *user, size_t k);

/* The same for pieces that learn from earlier ones: piece k begins when 0 .. k - FIT_CREW_LAG are merged, and may
 * use only their results, even if more are merged. */
enum { FIT_CREW_LAG = 4 };
enum fit_status fit_crew_chain(struct fit_crew *crew, size_t n, fit_crew_work *work, fit_crew_merge *merge, void *user);
