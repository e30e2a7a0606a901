/* start.h -- starting points from the data.
 *
 * The linear parameters need no start (objective.h), so a point is judged by its true sum of squares, on a
 * coarse copy of the data with 40 to 60 frames: the given start, the model's own random points
 * (fit_kernel.screen) and a Latin hypercube over the box.  The best few that lie apart are followed for some
 * iterations there, then on a finer copy; what arrives at the same minimum is dropped.
 */
#ifndef FIT_START_H
#define FIT_START_H

#include "objective.h"

struct fit_start_spec {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_objective_setup *setup;
    const double *lower, *upper; /* nparam; lower = upper holds a parameter */
    const double *start;         /* nparam, inside the bounds */
    const char *origin;          /* what to call it */
    size_t multi_start;          /* follow so many; 0: a few */
    uint64_t seed;
    double deadline; /* fit_seconds(); 0: none */
};

struct fit_candidate {
    char origin[48];
    double *first;   /* nparam: where it began */
    double *theta;   /* nparam: where it is now */
    double variance; /* 2 cost / dof on the data set on which it was followed last; INFINITY: rejected */
    double cost;     /* the same as a cost */
    double dof;
    int given;       /* 1: the given start */
    int alive;       /* 0: dropped */
    int converged;   /* on that data set */
};

struct fit_candidates {
    size_t n;
    struct fit_candidate *item; /* those alive first, by variance; the given start is always there */
    int searched;               /* 0: nothing to search (no free nonlinear parameter) */
    int on_all;                 /* 1: variance refers to all data */
};

/* Searches.  The list always holds the given start; without free parameters it holds nothing else. */
enum fit_status fit_start_search(const struct fit_start_spec *spec, struct fit_candidates *list,
                                 struct fit_error *err);
/* The list with the given start only. */
enum fit_status fit_start_given(const struct fit_start_spec *spec, struct fit_candidates *list,
                                struct fit_error *err);
void fit_candidates_free(struct fit_candidates *list);

/* A point of the box for u in (0,1): logarithmic for positive boxes of more than two decades, signed
 * logarithmic for boxes around zero, around `start` where a bound is infinite, otherwise linear. */
double fit_start_sample(double lower, double upper, double start, double u);

#endif
