/* local_noise_line.c -- squares of differences along lines of constant lag, of whole rows; see local_noise.h.
 * Sums are kept for each of four lanes: the same bits whatever the vectors of the machine. */
#include "leastsquares/local_noise.h"

#include <math.h>
#include <string.h>

#include "base/each_isa.h"

#define FIT_VL 4 /* whatever the machine; gcc makes masks of wider vectors lane by lane */
#include "fit/vmath.h"

enum { L = FIT_VL, ORDERS = FIT_NOISE_ORDERS, REACH = FIT_NOISE_REACH };

/* x[0 .. some), NaN behind. */
FIT_INLINE fit_vd take(const double *x, size_t some)
{
    double part[L];
    if (some >= L)
        return fit_vloadu(x);
    for (size_t k = 0; k < L; k++)
        part[k] = k < some ? x[k] : NAN;
    return fit_vloadu(part);
}

EACH_ISA
void fit_noise_line(const double *const row[REACH + 1], size_t n, double limit, struct fit_noise_sums *s)
{
    static const double norm[ORDERS] = FIT_NOISE_NORM;
    fit_vd sum[ORDERS] = {{0}}, count = {0};
    for (size_t k = 0; k < n; k += L) {
        const size_t some = n - k;
        const fit_vd a = take(row[0] + k, some), b = take(row[1] + k + 1, some), c = take(row[2] + k + 2, some),
                     d = take(row[3] + k + 3, some), e = take(row[4] + k + 4, some);
        fit_vd x[ORDERS];
        FIT_NOISE_DIFFERENCES(a, b, c, d, e, x);
        const fit_vm counts = x[2] * x[2] <= limit * norm[2]; /* not when one is NaN */
        count += fit_vselect(counts, fit_vset1(1), (fit_vd){0});
        for (size_t p = 0; p < ORDERS; p++)
            sum[p] += fit_vselect(counts, x[p] * x[p], (fit_vd){0});
    }
    s->n += fit_vsum(count);
    for (size_t p = 0; p < ORDERS; p++)
        s->square[p] += fit_vsum(sum[p]) / norm[p];
}

EACH_ISA
void fit_noise_short(const double *const row[3], size_t n, double limit, struct fit_noise_sums *s)
{
    static const double norm[ORDERS] = FIT_NOISE_NORM;
    fit_vd sum = {0}, count = {0};
    for (size_t k = 0; k < n; k += L) {
        const size_t some = n - k;
        const fit_vd d = take(row[0] + k, some) - 2 * take(row[1] + k + 1, some) + take(row[2] + k + 2, some);
        const fit_vm counts = d * d <= limit * norm[0];
        count += fit_vselect(counts, fit_vset1(1), (fit_vd){0});
        sum += fit_vselect(counts, d * d, (fit_vd){0});
    }
    s->nshort += fit_vsum(count);
    s->short_square += fit_vsum(sum) / norm[0];
}
