/* local_noise.h -- the noise of pair data without a model: differences along lines of constant lag.
 *
 * A correlation depends strongly on the lag and slowly on the age, so on the line (i, j), (i + 1, j + 1), ... the
 * signal is smooth, however fast it decays.  Of normalised differences along it, d_p = sum_m (-1)^m binom(p, m) y_m /
 * sqrt(binom(2p, p)),      p = 2, 3, 4, independent noise gives the mean square sigma^2 for every p (von Neumann, Ann.
 * Math. Stat. 12 (1941) 367; Gasser, Sroka & Jennen-Steinmetz, Biometrika 73 (1986) 625), a signal of angular frequency
 * w per frame leaks in as w^2p. Of data the fourth is the estimate.  Where the third is not the same, something leaks,
 * or noise of neighbours is correlated: then nothing is told.  Of residuals the second is, which scatters least, if all
 * agree.
 *
 * Differences beyond 5 sigma do not count (of normal noise these are 6e-7).  Pairs of the shortest lags, which share a
 * frame along the line, do not either; nor, of data, do pairs of the first frames, where rates may be powers of a time
 * near 0.
 */
#pragma once

#include "data/dataset.h"

enum { FIT_NOISE_ORDERS = 3, FIT_NOISE_REACH = 4 };

enum fit_local_doubt {
    FIT_LOCAL_KNOWN,
    FIT_LOCAL_FEW,        /* too few neighbours */
    FIT_LOCAL_ROUGH,      /* differences of different order disagree */
    FIT_LOCAL_CORRELATED, /* so do those of residuals: noise of neighbours is correlated */
    FIT_LOCAL_NONE        /* not data over pairs of frames */
};

struct fit_local_noise {
    double variance; /* NaN unless doubt is FIT_LOCAL_KNOWN */
    double error;    /* standard error of variance, relative */
    double guess;    /* what the differences give, doubtful or not; NaN: nothing */
    enum fit_local_doubt doubt;
};

/* Why nothing is told, in words; "" for FIT_LOCAL_KNOWN. */
const char *fit_local_text(enum fit_local_doubt doubt);

/* Sums over stencils of five values: how many, and squares of the differences of order 2, 3, 4; and over all of three
 * values, of residuals. */
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

/* Of residuals, in which no signal is left. */
struct fit_local_noise fit_noise_of_residuals(const struct fit_noise_sums *s);

/* to += from, variances times scale. */
void fit_noise_add(struct fit_noise_sums *to, const struct fit_noise_sums *from, double scale);

/* step[i] <- what frames i, ..., i + reach are apart from one to the next; 0: unequal, or they are not there.  Stencils
 * from (i, j) are for step[i] = step[j] != 0. */
void fit_noise_steps(const struct fit_layout *l, size_t reach, uint32_t *step);

/* Of the values themselves, a sample of them: each[ngroup] and (unless NULL) *all.  With weights in the data: in their
 * unit, 1 when they are true.  Tables: FIT_LOCAL_NONE. */
enum fit_status fit_noise_of_data(const struct fit_dataset *ds, struct fit_local_noise *each,
                                  struct fit_local_noise *all, struct fit_error *err);
