/* planning.h -- the data of `plan` on an experiment, its designs and their answers (commands/plan.c,
 * plan_answers.c). */
#pragma once

#include "input/select.h"
#include "setup/design.h"
#include "setup/plan_data.h"

enum { DESIGNS = 4, SPLITS = 7, GOALS = 8 };

struct planned {
    const char *name;
    struct fit_plan_design design;
    double *place; /* ngroup each: q, phi, sigma */
    struct fit_plan plan;
    int done;
    char why[200]; /* there is none */
};

/* The size of the experiment that makes the error of a parameter as small as requested. */
struct plan_goal {
    size_t param;
    double wanted, planned; /* errors */
    double frames, reached; /* sufficient frames, about; else NaN and the error with `most`, the most tried */
    size_t most;
    double speckles;        /* sufficient speckles per angle, with the frames as planned */
};

/* The source of a number of the experiment. */
enum { FROM_SIZE = 160 };
struct known {
    char frames[FROM_SIZE], dt[FROM_SIZE], q[FROM_SIZE], phi[FROM_SIZE], sigma[FROM_SIZE], linear[FROM_SIZE];
};

struct planning {
    const struct fit_kernel *model;
    const struct fit_config *cfg;
    struct fit_selection sel;
    struct fit_plan_data data;
    struct known from;
    size_t frames;
    double dt;
    size_t nq, nphi, nsigma;
    const double *q, *phi, *sigma;
    double shot, flux, exposure; /* shot noise of a frame; photons per pixel and second, s: 0, not given */
    double shot_sigma;           /* of a value, by the shot noise */
    double nothing[2], *linear; /* nlinear */
    struct planned d[DESIGNS];
    struct planned split[SPLITS]; /* the same photons in other frames */
    struct plan_goal goal[GOALS];
    size_t nsplit, ngoal;
};

/* Which errors. */
enum fit_plan_kind { INDEPENDENT, LEAST_SQUARES, EFFICIENT };

static inline const double *fit_plan_errors(const struct fit_plan *p, enum fit_plan_kind kind)
{
    return kind == INDEPENDENT ? p->fit.std : kind == LEAST_SQUARES ? p->plain : p->efficient;
}
