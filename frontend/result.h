/* result.h -- the numbers of a finished fit, read back from its folder.
 *
 * It reads fit.json of the fitters and the files of the Python packages: nlsq/parameters.json (homodyne),
 * nlsq_parameters.json (heterodyne), nlsq_result.json (xpcsjax). */
#ifndef HOMODYNE_RESULT_H
#define HOMODYNE_RESULT_H

#include "base/status.h"

#include <stddef.h>

struct front_param {
    char name[64]; /* "D0", "contrast[2]" */
    char unit[40];
    double value, std, std_robust; /* NaN: not told */
    double mean, sd; /* of the posterior; NaN: none was sampled */
    double lower95,
        upper95; /* profile interval in place of std; NaN: an open end, or no interval */
    int interval;            /* 1: there is such a one */
    int fixed, at_bound;
    int undetermined; /* neither error nor interval: value is the end point of the search */
    int physical; /* 0: contrast, offset */
};

struct front_result {
    char file[1200]; /* what was read */
    char run[20];    /* run_id; "" not told */
    char status[40]; /* "converged_gradient", ...; "" not told */
    char quality[16]; /* "good", "poor", ...; "" not told */
    int converged;   /* 1, 0; -1 not told */
    char posterior[16]; /* verdict of the sampling; "" none was requested */
    int sampled;        /* 1: parameters have mean and sd */
    int package;        /* 1: written by a Python package */
    char model[64], data[1024], data_sha256[65], program[32];
    double chi2, reduced_chi2, npoint, sigma, wall_seconds, q; /* NaN: not told */
    double speckles, shot; /* of the noise: speckles of all groups, mean shot noise; NaN: unknown */
    double nfree, cost, log_likelihood;
    char robust[24];        /* source of the errors for correlated noise: "clusters of frames", ...; "" unknown */
    double eta, clusters;   /* effective fraction of the values; clusters of frames; NaN: unknown */
    double correlation;     /* of neighbouring residuals, mean over groups, the larger of lag and age */
    int ngroup, pairs;      /* groups; 1: two-time data */
    double log_evidence;    /* NaN: none */
    char improper[1024];    /* parameters without a proper prior, and the prior of the noise, as text */
    char noise[16], loss[16], scaling[16];     /* noise: "file", "given", "residuals", "law" */
    int reweighted;                            /* 1: by the residuals of groups */
    int efficient;                             /* 1: pairs of frames were weighted by speckle noise */
    int feedback;                              /* 1: rows depend on values measured in earlier ones */
    char selection[2048];                      /* frames and matrices that were fitted */
    size_t nparam;
    struct front_param *param;
};

/* where: folder of results, or one of the files.  FIT_ERR_IO: none there. */
enum fit_status front_result_read(const char *where, struct front_result *r, struct fit_error *err);
void front_result_free(struct front_result *r);

/* The value and error of a parameter: mean and standard deviation of the posterior, if there is one, else least
 * squares with the robust error, if there is one. NaN: nothing. */
double front_estimate(const struct front_result *r, const struct front_param *p);
double front_error(const struct front_result *r, const struct front_param *p);

/* The parameter of this name, or NULL. */
const struct front_param *front_result_param(const struct front_result *r, const char *name);

#endif
