/* start_impl.h -- shared by the parts of the search for starting points: start.c, start_points.c, start_round.c,
 * start_global.c.
 */
#pragma once

#include "leastsquares/start.h"

/* One search: its points and their evaluations. */
struct fit_search {
    const struct fit_start_spec *s;
    size_t p, nfree, npoint; /* parameters; free ones; screened points of the round */
    double *point;           /* npoint x p */
    double *unit; /* npoint x p: position in the box, 0..1, once located; NaN in the first: not to be chosen */
    unsigned char *located; /* npoint: 1: its position is known */
    double *cost; /* npoint */
    size_t *rank, *chosen; /* npoint each: by cost; followed */
    size_t nmodel;         /* points 1..nmodel are the model's own */
    size_t number;         /* points of earlier rounds, for names */
    const double *centre;  /* best of the earlier rounds, or NULL */
    uint64_t draw;         /* stream of random numbers */
    struct fit_objective **worker; /* points are evaluated in parallel: one objective of one thread each; */
    size_t nworker;                /* 0: by the objective that is handed over, one after the other */
    struct fit_arena storage;      /* of the round */
};

enum {
    FIT_START_SCAN = 16, /* points of a scan along one parameter */
    FIT_START_DEAD = 32, /* redrawn for parameters that have lost their effect */
    FIT_START_RATE = 16  /* drawn for the parameters of a rate */
};

/* The plan of a round: points screened per free parameter, points followed, how many more for each parameter beyond
 * a few, steps of each stage. */
enum { FIT_START_STAGES = 3 };
struct fit_start_plan {
    size_t points, followed, more;
    size_t steps[FIT_START_STAGES];
};

/* ---- start_points.c: choice of points ----------------------------------------------------------- */

/* The u in 0..1 whose sample is x: the sample increases with u. */
double fit_start_position(const struct fit_start_spec *s, size_t k, double x);

/* unit of point i, computed on demand: most points do not need it. */
void fit_start_locate(struct fit_search *q, size_t i);

/* Fill the points of q, which has room for npoint. */
void fit_start_hypercube(struct fit_search *q);
/* marked: room for a mark of each parameter. */
size_t fit_start_scans(struct fit_search *q, const double *best, const unsigned char *dead, size_t ndead,
                       unsigned char *marked);
void fit_start_crossings(struct fit_search *q, const double *best);

/* ---- start_round.c ----------------------------------------------------------------------------- */

/* Room for a round of so many points (fewer where the data are many): point, unit, cost, rank. */
enum fit_status fit_start_round_new(struct fit_search *q, size_t points,
                                    const struct fit_dataset *ds, struct fit_error *err);
void fit_start_round_free(struct fit_search *q);

/* Cost of every point of the round, and the order of costs; FIT_ERR_INTERRUPTED. */
enum fit_status fit_start_screen(struct fit_search *q, struct fit_objective *obj,
                                 struct fit_error *err);

/* Appends to the list the best of the screened points, followed as the plan says; sorts it. */
enum fit_status fit_start_follow_chosen(struct fit_search *q, const struct fit_start_plan *plan,
                                        struct fit_objective *obj, struct fit_candidates *list,
                                        struct fit_error *err);

/* All of the above for points of a Latin hypercube. */
enum fit_status fit_start_round(struct fit_search *q, const struct fit_start_plan *plan,
                                struct fit_objective *obj, struct fit_candidates *list,
                                struct fit_error *err);

/* Follows the live candidates in item[from..) for some steps; then sorts. */
enum fit_status fit_start_follow(const struct fit_search *q, struct fit_objective *obj,
                                 size_t steps, size_t from, struct fit_candidates *list,
                                 struct fit_error *err);

/* Best first; of two that have reached the same minimum one is no longer alive. */
void fit_start_sort(struct fit_candidates *list);

/* Keeps at most `most` of item[from..) alive, none above `factor` times the best. */
void fit_start_keep(struct fit_candidates *list, size_t from, size_t most, double factor);

/* Keeps the best; for many parameters also those that the thinned data do not distinguish from them. */
void fit_start_keep_survivors(const struct fit_search *q, struct fit_candidates *list);

/* Residuals as small as the noise: nothing better can be found. */
int fit_start_good_enough(const struct fit_candidates *list);

/* Free parameters beyond a few: with each of them more points that look good lead into side valleys. */
size_t fit_start_beyond_few(const struct fit_search *q);

/* An empty list with room for n candidates of p parameters. */
enum fit_status fit_start_list(struct fit_candidates *list, size_t n, size_t p,
                               struct fit_error *err);

/* ---- start_global.c ---------------------------------------------------------------------------- */

/* Appends to the list the results of an evolution strategy (cmaes.h) in the whole box, from several random points,
 * each time with a larger population, until two in a row lead to nothing better; at most FIT_START_RESTARTS items,
 * for which there is room. */
enum { FIT_START_RESTARTS = 6 };
enum fit_status fit_start_global(struct fit_search *q, struct fit_objective *obj, struct fit_candidates *list,
                                 struct fit_error *err);
