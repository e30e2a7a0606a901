/* load.h -- the results of a fit, read back from their folder: fit.json, fit.h5 and posterior.nc; or data before any
 * fit, from the file that `homodyne-MODEL extract` writes (then `fitted` is 0, and members about a fit are NULL).
 *
 * Maps of many points are averaged to at most RP_SIDE on a side. Everything belongs to the result.
 */
#ifndef RP_LOAD_H
#define RP_LOAD_H

#include "base/status.h"
#include "files/yaml_tree.h"

#include <stddef.h>

enum { RP_SIDE = 256, RP_NAME = 80 };

struct rp_curve {
    char name[RP_NAME], unit[RP_NAME], doc[2 * RP_NAME];
    double *value, *error; /* error: NaN where it is not known */
    double *low, *high;    /* 95 % of the posterior; NULL: none */
};

struct rp_column { /* of a table */
    char name[RP_NAME], unit[RP_NAME];
    char names[512]; /* of its values 0, 1, ..., split by commas; "": they are numbers */
    double *value;
};

struct rp_origin { /* of the data; numbers NaN, texts NULL: not known */
    char *file, *layout, *sha256, *command, *version;
    double first, last, q, dt;
};

struct rp_draws { /* of one parameter */
    char name[RP_NAME], unit[RP_NAME];
    double *value; /* chains x draws */
    double least_squares, r_hat, ess;
};

struct rp_result {
    char folder[1024];
    struct fit_yaml_doc *doc;
    const struct fit_yaml *json;
    int fitted;
    struct rp_origin origin;
    char *title, *formula, *mathml, *reference, *end_time; /* mathml: the model's equations; NULL: not in the file */

    int pairs; /* two-time maps; else a table */
    size_t ngroup;
    double *phi;        /* ngroup, degree */
    double *file;       /* ngroup, from 1, of pairs of several files; else NULL */
    double *q;          /* ngroup, 1/angstrom; NULL: the groups are of one q */
    char time_unit[16]; /* "s", or "frames" when the period is unknown */
    double *noise;      /* ngroup: standard deviation; NULL: not known */
    size_t side, bin;   /* points on a side of the maps; frames averaged in one on each side */
    double *t;          /* side, s */
    double *t_group, *tau_group, *age_group; /* the same of every group of files with different times; else NULL */
    double *c2, *model; /* ngroup x side x side */
    double *residual;   /* in standard deviations of the averaged value */
    size_t nage, nlag;
    double *age, *tau, *g2, *g2_model, *g2_error; /* ngroup x nage x nlag */
    double *g2_low, *g2_high;                     /* 95 % of the posterior; NULL: none */

    size_t nrow, ncolumn; /* table */
    struct rp_column *column;
    const struct rp_column
        *axis; /* distinguishes curves, with ngroup values; NULL: there is one curve */
    double *axis_value;
    char value_name[RP_NAME], value_unit[RP_NAME]; /* of what is measured */
    double *value, *fit, *row_residual, *sigma;
    double *fit_low, *fit_high; /* 95 % of the posterior; NULL: none */
    size_t nfine;               /* 0: the fit is known at the rows only */
    double *fine_x, *fine_fit, *fine_curve; /* nfine places along the one covariate, each curve's in order; the fit
                                               there; the value of `axis` */

    size_t nt, ncurve;
    double *curve_t;
    struct rp_curve *curve;

    int sampled; /* posterior.nc was there */
    size_t chains, draws, ndraws;
    struct rp_draws *draw;    /* ndraws parameters */
    double *energy;           /* chains x draws; NULL: none */
    unsigned char *diverging; /* chains x draws, or NULL */
};

/* Of a folder, or of a file of data.  FIT_ERR_IO: no such folder or file; FIT_ERR_DATA: damaged, or
 * files that do not belong together.
 */
enum fit_status rp_result_read(const char *folder, struct rp_result *r, struct fit_error *err);
void rp_result_free(struct rp_result *r);

/* Reads the posterior; called by rp_result_read. */
enum fit_status rp_posterior_read(struct rp_result *r, const char *file, struct fit_error *err);

/* fit.json: a value by its path ("noise.source"), NULL when it is not there; its number (NaN), its
 * text (""). */
const struct fit_yaml *rp_get(const struct fit_yaml *node, const char *path);
double rp_json_number(const struct fit_yaml *node, const char *path);
double rp_json_value(const struct fit_yaml *node); /* of the node itself; NULL: NaN */
const char *rp_json_text(const struct fit_yaml *node, const char *path);
int rp_json_true(const struct fit_yaml *node, const char *path);

#endif
