/* local_noise.h -- the noise of pair data without a model: differences along lines of constant lag.
 *
 * A correlation depends strongly on the lag and slowly on the age, so on the line (i, j), (i + 1, j + 1), ... the
 * signal is smooth, however fast it decays. For the normalised differences along it, d_p = sum_m (-1)^m binom(p, m) y_m
 * / sqrt(binom(2p, p)), p = 2, 3, 4, independent noise gives the mean square sigma^2 for every p (von Neumann, Ann.
 * Math. Stat. 12 (1941) 367; Gasser, Sroka & Jennen-Steinmetz, Biometrika 73 (1986) 625), and a signal of angular
 * frequency w per frame contributes w^2p. For data the fourth is the estimate. Where the third differs, signal
 * contributes, or the noise of neighbours is correlated; no estimate is then given. For residuals the second is the
 * estimate, which scatters least, if all agree.
 *
 * Differences beyond 5 sigma do not count (6e-7 of them for normal noise). Neither do pairs of the shortest lags, which
 * share a frame along the line, nor, for data, pairs of the first frames, where rates may be powers of a time near 0.
 */
#pragma once

#include "data/dataset.h"

enum { FIT_NOISE_ORDERS = 3, FIT_NOISE_REACH = 4 };

enum fit_local_doubt {
    FIT_LOCAL_KNOWN,
    FIT_LOCAL_FEW,        /* too few neighbours */
    FIT_LOCAL_ROUGH,      /* differences of different order disagree */
    FIT_LOCAL_CORRELATED, /* also for residuals: the noise of neighbours is correlated */
    FIT_LOCAL_NONE        /* not data over pairs of frames */
};

struct fit_local_noise {
    double variance; /* NaN unless doubt is FIT_LOCAL_KNOWN */
    double error;    /* standard error of variance, relative */
    double guess;    /* the estimate of the differences, doubtful or not; NaN: none */
    enum fit_local_doubt doubt;
};

/* Why there is no estimate, in words; "" for FIT_LOCAL_KNOWN. */
const char *fit_local_text(enum fit_local_doubt doubt);

/* Sums over stencils of five values: their number, and squares of the differences of order 2, 3, 4; for residuals
 * also over all stencils of three values. */
struct fit_noise_sums {
    double n, square[FIT_NOISE_ORDERS];
    double nshort, short_square;
};

/* Differences of five values over the roots of FIT_NOISE_NORM: numbers or vectors. */
#define FIT_NOISE_DIFFERENCES(a, b, c, d, e, out)   \
    do {                                            \
        (out)[0] = (b) - 2 * (c) + (d);             \
        (out)[1] = (d) - 3 * (c) + 3 * (b) - (a);   \
        (out)[2] = (a) - 4 * (b) + 6 * (c) - 4 * (d) + (e); \
    } while (0)
#define FIT_NOISE_NORM {6, 20, 70}

/* row[m][k + m], m = 0 .. 4, k < n: five rows of values shifted along the diagonal; NaN: not there.  Stencils with
 * d_4^2 > limit do not count. */
void fit_noise_line(const double *const row[FIT_NOISE_REACH + 1], size_t n, double limit, struct fit_noise_sums *s);
/* Three rows: those with d_2^2 > limit do not count. */
void fit_noise_short(const double *const row[3], size_t n, double limit, struct fit_noise_sums *s);

/* For residuals, which contain no signal. */
struct fit_local_noise fit_noise_of_residuals(const struct fit_noise_sums *s);

/* to += from, variances times scale. */
void fit_noise_add(struct fit_noise_sums *to, const struct fit_noise_sums *from, double scale);

/* step[i] <- the distance of frames i, ..., i + reach from one to the next; 0: unequal, or missing. Stencils from
 * (i, j) need step[i] = step[j] != 0. */
void fit_noise_steps(const struct fit_layout *l, size_t reach, uint32_t *step);

/* From a sample of the values themselves: each[ngroup] and (unless NULL) *all. With weights in the data: in their
 * unit, 1 when they are true. Tables: FIT_LOCAL_NONE. */
enum fit_status fit_noise_of_data(const struct fit_dataset *ds, struct fit_local_noise *each,
                                  struct fit_local_noise *all, struct fit_error *err);
