/* rat43_hand.c -- Rat43, y = b1 (1 + exp(b2 - b3 x))^(-1/b4), and its derivatives, written by hand.
 *
 * The yardstick for the kernel that homodyne-gen writes from models/nist/rat43.lua.  Four ways, all of
 * them r = y - mean and J = d mean / d(b2, b3, b4, b1), n points:
 *
 *   naive   each derivative as a textbook gives it, nothing shared, libm
 *   shared  one exp, one log, one power for all, libm: with S = 1 + e^(b2 - b3 x), P = S^(-1/b4)
 *               dP/db2 = -P (S - 1) / (S b4),  dP/db3 = -x dP/db2,  dP/db4 = P log(S) / b4^2
 *   vectors the same in vectors (fit/vmath.h).  P = exp(-log(S)/b4) costs one exp more than the log that is
 *           there already; its error is |log P| ulp more than that of a true power.
 *   fused   in vectors, J^T J, J^T r and J^T b summed at once, J never stored: what the runtime asks of an
 *           emitted kernel.
 *
 * The first two are those that Ceres Solver's documentation times (255 and 92 ns per point on its
 * machine, "Automatic Derivatives").
 */
#include "rat43_hand.h"

#include <math.h>

#define FIT_VL FIT_VL_NATIVE
#include "fit/vmath.h"

void rat43_naive(const double b[4], size_t n, const double *x, const double *y, double *r, double *J)
{
    for (size_t i = 0; i < n; i++) {
        double *d = J + 4 * i;
        r[i] = y[i] - b[3] * pow(1 + exp(b[0] - b[1] * x[i]), -1 / b[2]);
        d[0] = -b[3] * exp(b[0] - b[1] * x[i]) * pow(1 + exp(b[0] - b[1] * x[i]), -1 / b[2] - 1) / b[2];
        d[1] = x[i] * b[3] * exp(b[0] - b[1] * x[i]) * pow(1 + exp(b[0] - b[1] * x[i]), -1 / b[2] - 1) /
               b[2];
        d[2] = b[3] * log(1 + exp(b[0] - b[1] * x[i])) * pow(1 + exp(b[0] - b[1] * x[i]), -1 / b[2]) /
               (b[2] * b[2]);
        d[3] = pow(1 + exp(b[0] - b[1] * x[i]), -1 / b[2]);
    }
}

void rat43_shared(const double b[4], size_t n, const double *x, const double *y, double *r, double *J)
{
    double inverse = 1 / b[2];
    for (size_t i = 0; i < n; i++) {
        double e = exp(b[0] - b[1] * x[i]), S = 1 + e, L = log(S), P = exp(-L * inverse);
        double slope = -b[3] * inverse * P * e / S;
        r[i] = y[i] - b[3] * P;
        J[4 * i] = slope;
        J[4 * i + 1] = -x[i] * slope;
        J[4 * i + 2] = b[3] * inverse * inverse * P * L;
        J[4 * i + 3] = P;
    }
}

void rat43_vectors(const double b[4], size_t n, const double *x, const double *y, double *r, double *J)
{
    double inverse = 1 / b[2];
    for (size_t i = 0; i < n; i += FIT_VL) { /* n is a multiple of 8 */
        fit_vd X = fit_vload(x + i), e = fit_vexp(b[0] - b[1] * X), S = 1 + e, L = fit_vlog(S);
        fit_vd P = fit_vexp(-inverse * L), slope = -b[3] * inverse * P * e / S;
        fit_vd d[4] = {slope, -X * slope, b[3] * inverse * inverse * P * L, P};
        fit_vstore(r + i, fit_vload(y + i) - b[3] * P);
        __asm__("" : : "r"(d) : "memory"); /* gcc 12 takes the columns apart more slowly in registers */
        for (size_t k = 0; k < FIT_VL; k++)
            for (size_t c = 0; c < 4; c++)
                J[4 * (i + k) + c] = d[c][k];
    }
}

void rat43_fused(const double b[4], size_t n, const double *x, const double *y, double out[12])
{
    double inverse = 1 / b[2];
    fit_vd s[12] = {{0}};
    for (size_t i = 0; i < n; i += FIT_VL) { /* n is a multiple of 8 */
        fit_vd X = fit_vload(x + i), e = fit_vexp(b[0] - b[1] * X), S = 1 + e, L = fit_vlog(S);
        fit_vd P = fit_vexp(-inverse * L), m0 = -b[3] * inverse * P * e / S, m1 = -X * m0;
        fit_vd m2 = b[3] * inverse * inverse * P * L, r = fit_vload(y + i) - b[3] * P;
        s[0] += m0 * m0;
        s[1] += m0 * m1;
        s[2] += m0 * m2;
        s[3] += m1 * m1;
        s[4] += m1 * m2;
        s[5] += m2 * m2;
        s[6] += m0 * r;
        s[7] += m1 * r;
        s[8] += m2 * r;
        s[9] += P * m0;
        s[10] += P * m1;
        s[11] += P * m2;
    }
    for (int k = 0; k < 12; k++)
        out[k] = fit_vsum(s[k]);
}
