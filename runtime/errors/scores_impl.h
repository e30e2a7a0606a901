/* scores_impl.h -- shared by the passes over pairs and over rows. */
#pragma once

#include "errors/scores.h"

/* Sums over residuals z = sqrt(v) r of a group; numbers of doubles only. */
struct fit_score_sums {
    double n, z2, z4;
    double age, nage;       /* neighbours z(i, j) z(i-1, j-1) */
    double lag, nlag;       /* neighbours z(i, j) z(i, j-1) */
    double share, nshare;   /* z(i, j) z(i, k), j != k */
    double decile[FIT_RESIDUAL_DECILES], ndecile[FIT_RESIDUAL_DECILES];
    struct fit_noise_sums neighbours;
};

struct fit_score_pass {
    struct fit_objective *o;
    const struct fit_score_loss *loss;
    const double *D;
    struct fit_scores *s;
    struct fit_score_sums *sums; /* ngroup */
    struct fit_misfit_bins bins; /* pairs */
    double *binned;              /* pairs: numbers of all bins */
};

/* Over all data: the sums of p->s and p->sums. */
enum fit_status fit_scores_of_pairs(struct fit_score_pass *p, struct fit_error *err); /* scores_pairs.c; binned too */
int fit_scores_of_rows(struct fit_score_pass *p); /* scores_rows.c; 0: out of memory */

/* w <- v times the weight that the loss gives the residual; nvector vectors of FIT_LANES.  room: as many numbers. */
void fit_score_weights(const struct fit_score_loss *loss, size_t nvector, const double *y, const double *mean,
                       const double *v, double *w, double *room);
