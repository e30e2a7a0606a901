/* crew.h -- copies of a fit, for independent pieces of work side by side.
 *
 * A pass over few data is too short to be shared among threads, and a look at the cost around a minimum makes thousands
 * of them.  Where it falls into independent pieces (profiles of parameters, valleys, rivals) each thread takes whole
 * pieces, with an objective and an optimiser of its own whose passes it makes alone.  Of many data the pieces follow
 * one another, and all threads share every pass.
 *
 *     struct fit_crew crew;
 *     if ((st = fit_crew_new(f, &crew)) == FIT_OK)
 *         st = fit_crew_run(&crew, n, work, user);
 *     fit_crew_free(&crew);
 *
 * What a piece does must not depend on the others, nor on the member that does it: it writes to places of its own,
 * which the caller merges in the order of the pieces.  Then the result has the same bits for any number of threads.
 */
#pragma once

#include "leastsquares/fit_impl.h"

struct fit_crew {
    struct fit_ls *f;
    size_t n;              /* members */
    struct fit_ls *member; /* each with obj, nlsq, theta, second, better, axis and err of its own; the rest is that of
                              f, and only read */
    struct fit_arena storage;
};

/* For as long as f keeps its data and weights.  fit_crew_free() also after a failure. */
enum fit_status fit_crew_new(struct fit_ls *f, struct fit_crew *crew);
/* Passes of the members count as those of f, as do ends of the time allowed. */
void fit_crew_free(struct fit_crew *crew);

/* Piece k, done by `own`, member number m of the crew.  own->found_lower and own->over are 0, own->curvature is that of
 * f when it begins. */
typedef enum fit_status fit_crew_work(void *user, struct fit_ls *own, size_t m, size_t k);

/* Does all pieces k < n, or those before the first that fails; its error. */
enum fit_status fit_crew_run(struct fit_crew *crew, size_t n, fit_crew_work *work, void *user);

/* What piece k has brought, merged while no other merge runs: of each piece in turn, when it and those before it are
 * done. */
typedef void fit_crew_merge(void *user, size_t k);

/* The same for pieces that learn from those before: piece k begins when 0 .. k - FIT_CREW_LAG are merged, and is to use
 * what these have brought only, though more may have been merged. */
enum { FIT_CREW_LAG = 4 };
enum fit_status fit_crew_chain(struct fit_crew *crew, size_t n, fit_crew_work *work, fit_crew_merge *merge, void *user);
