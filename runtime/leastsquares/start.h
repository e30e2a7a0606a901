/* start.h -- starting points from the data.
 *
 * The linear parameters need no start (objective.h), so a point is judged by its true sum of squares, on a coarse copy
 * of the data with 40 to 60 frames: the given start, the model's own random points (fit_kernel.screen) and a Latin
 * hypercube over the box. The best that lie apart are followed downhill there; the worse ones are dropped on the way,
 * and so are those that reach the same minimum. Models of many parameters have side valleys that fit nearly as well:
 * there new points share some values of the best and redraw the others, and more rivals are followed on more data.
 *
 * When to stop. The variance of the noise is estimated without a model, from second differences of neighbouring values.
 * A fit whose residuals are as small as that needs no rival. One whose residuals are larger may be in a wrong minimum:
 * then the search continues with more points, some of them around the best, up to a fixed amount of work.
 */
#pragma once

#include "leastsquares/objective.h"

struct fit_start_spec {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_objective_setup *setup;
    const double *lower, *upper; /* nparam; lower = upper holds a parameter */
    const double *start;         /* nparam, inside the bounds */
    const char *origin;          /* what to call it */
    size_t multi_start;          /* follow so many; 0: a few */
    int global;                  /* 1: also an evolution strategy in the whole box */
    size_t first_round;          /* 0; more: continue after so many rounds, */
    const double *centre;        /* some of the points around this one (NULL: nothing found yet) */
    uint64_t seed;
    double deadline; /* fit_seconds(); 0: none */
};

struct fit_candidate {
    char origin[48];
    double *first;   /* nparam: where it began */
    double *theta;   /* nparam: where it is now */
    double variance; /* 2 cost / dof where it was followed last; INFINITY: rejected */
    double cost;     /* the same as a cost */
    double dof;
    int given;       /* 1: the given start */
    int alive;       /* 0: dropped */
    int doubled;     /* 1: dropped because another one reached the same minimum */
    int converged;   /* on that data set */
};

struct fit_candidates {
    size_t n;
    struct fit_candidate *item; /* those alive first, by variance */
    int searched;               /* 0: nothing to search (no free nonlinear parameter) */
    size_t rounds;              /* rounds behind */
    int crossed;                /* 1: values of the best were mixed with others to look for side valleys */
    double noise;               /* variance of the data's noise, without a model; NaN: unknown */
    int on_all;                 /* 1: variance refers to all data */
    struct fit_arena storage;
};

/* Number of rounds, each with more points than the one before. */
size_t fit_start_rounds(const struct fit_kernel *kernel);

/* Searches. The list always contains the given start; without free parameters it contains nothing else.
 */
enum fit_status fit_start_search(const struct fit_start_spec *spec, struct fit_candidates *list,
                                 struct fit_error *err);
/* The list with the given start only. */
enum fit_status fit_start_given(const struct fit_start_spec *spec, struct fit_candidates *list,
                                struct fit_error *err);
void fit_candidates_free(struct fit_candidates *list);

/* A value in the box for u in (0,1): logarithmic for positive boxes of more than two decades; signed logarithmic for
 * boxes around zero of a quantity with a unit (angles and pure numbers have a natural scale, others may be decades
 * below their bounds); around `start` where a bound is infinite; otherwise linear. */
double fit_start_sample(const struct fit_param *param, double lower, double upper, double start,
                        double u);

/* *variance <- the noise of weighted values, sum of w (second difference)^2 over neighbours; NaN when there are
 * none. Smooth signals and white noise are assumed; anything else makes it larger or smaller, and the search only
 * shorter or longer. Neighbouring rows of a table may be far apart on the curve: there errors of the data are used
 * when they are smaller. */
enum fit_status fit_start_noise(const struct fit_objective *obj, double *variance, struct fit_error *err);

/* The same for every group: variance[ngroup].  Of the objective only kernel, ds, ngroup and npoint are used. */
enum fit_status fit_start_noises(const struct fit_objective *obj, double *variance, struct fit_error *err);
