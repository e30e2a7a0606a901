/* special.c -- normal quantile (Wichura 1988), Student's, incomplete beta function (continued fraction, DLMF
 * 8.17.22, by the method of Lentz), heap sort of indices. */
#include "math/special.h"

#include <float.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* ---- normal ---------------------------------------------------------------------------------- */

static double polynomial(const double c[8], double x)
{
    double s = c[7];
    for (int k = 6; k >= 0; k--)
        s = s * x + c[k];
    return s;
}

/* Coefficients of AS 241, PPND16. */
// clang-format off
static const double AS241_A[8] = {3.3871328727963666080,    1.3314166789178437745e2,
                            1.9715909503065514427e3,  1.3731693765509461125e4,
                            4.5921953931549871457e4,  6.7265770927008700853e4,
                            3.3430575583588128105e4,  2.5090809287301226727e3};
static const double AS241_B[8] = {1.0,                      4.2313330701600911252e1,
                            6.8718700749205790830e2,  5.3941960214247511077e3,
                            2.1213794301586595867e4,  3.9307895800092710610e4,
                            2.8729085735721942674e4,  5.2264952788528545610e3};
static const double AS241_C[8] = {1.42343711074968357734,   4.63033784615654529590,
                            5.76949722146069140550,   3.64784832476320460504,
                            1.27045825245236838258,   2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double AS241_D[8] = {1.0,                      2.05319162663775882187,
                            1.67638483018380384940,   6.89767334985100004550e-1,
                            1.48103976427480074590e-1, 1.51986665636164571966e-2,
                            5.47593808499534494600e-4, 1.05075007164441684324e-9};
static const double AS241_E[8] = {6.65790464350110377720,   5.46378491116411436990,
                            1.78482653991729133580,   2.96560571828504891230e-1,
                            2.65321895265761230930e-2, 1.24266094738807843860e-3,
                            2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double AS241_F[8] = {1.0,                      5.99832206555887937690e-1,
                            1.36929880922735805310e-1, 1.48753612908506148525e-2,
                            7.86869131145613259100e-4, 1.84631831751005468180e-5,
                            1.42151175831644588870e-7, 2.04426310338993978564e-15};
// clang-format on

/* Algorithm AS 241, PPND16. */
double fit_normal_quantile(double p)
{
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(AS241_A, r) / polynomial(AS241_B, r);
    }
    double tail = q < 0 ? p : 1 - p;
    if (tail <= 0)
        return q < 0 ? -INFINITY : INFINITY;
    double r = sqrt(-log(tail));
    double x = r <= 5 ? polynomial(AS241_C, r - 1.6) / polynomial(AS241_D, r - 1.6)
                      : polynomial(AS241_E, r - 5) / polynomial(AS241_F, r - 5);
    return q < 0 ? -x : x;
}

/* ---- gamma ----------------------------------------------------------------------------------- */

double lgamma_r(double x, int *sign); /* every C library has it; POSIX does not require it */

double fit_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* ---- beta ------------------------------------------------------------------------------------ */

/* The fraction of I_x(a, b), converging fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double term[2] = {even, odd}, change = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + term[k] * d;
            c = 1 + term[k] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = d * c;
            h *= change;
        }
        if (fabs(change - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

double fit_beta_cdf(double x, double a, double b)
{
    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(fit_log_gamma(a + b) - fit_log_gamma(a) - fit_log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* Bisection: 60 halvings leave an interval of 1e-18. */
double fit_beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1;
    for (int k = 0; k < 60; k++) {
        double x = 0.5 * (low + high);
        if (fit_beta_cdf(x, a, b) < p)
            low = x;
        else
            high = x;
    }
    return 0.5 * (low + high);
}

/* ---- Student's t ----------------------------------------------------------------------------- */

/* Hill's expansion in 1 / dof (1970, Algorithm 396); where it is not exact, Newton's rule with the tail
 * I_x(dof / 2, 1 / 2) / 2, x = dof / (dof + t^2) (DLMF 8.17.2 with the density of t). */
static double student_quantile(double p, double dof)
{
    double z = -fit_normal_quantile(p), z2 = z * z, t = z;
    if (!(dof <= 1e8))
        return z;
    t += z * (z2 + 1) / (4 * dof) + z * ((5 * z2 + 16) * z2 + 3) / (96 * dof * dof) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * dof * dof * dof);
    double front = exp(fit_log_gamma(0.5 * (dof + 1)) - fit_log_gamma(0.5 * dof)) / sqrt(dof * PI);
    for (int turn = 0; turn < 40 && dof < 1000; turn++) {
        double x = dof / (dof + t * t), step = 0.5 * fit_beta_cdf(x, 0.5 * dof, 0.5) - p;
        step /= front * pow(x, 0.5 * (dof + 1));
        t += step;
        if (fabs(step) < 1e-12 * t)
            break;
    }
    return t;
}

/* A fit needs the same few quantiles for every parameter: a thread keeps the last ones. */
double fit_student_quantile(double p, double dof)
{
    enum { KEPT = 4 };
    static _Thread_local struct {
        double p, dof, t;
    } kept[KEPT];
    static _Thread_local size_t oldest;
    for (size_t k = 0; k < KEPT && p > 0 && !isnan(dof); k++)
        if (!(kept[k].p < p) && !(kept[k].p > p) && !(kept[k].dof < dof) && !(kept[k].dof > dof))
            return kept[k].t;
    const double t = student_quantile(p, dof);
    if (p > 0 && !isnan(dof)) {
        kept[oldest].p = p;
        kept[oldest].dof = dof;
        kept[oldest].t = t;
        oldest = (oldest + 1) % KEPT;
    }
    return t;
}

/* ---- chi2 ------------------------------------------------------------------------------------ */

/* The regularised incomplete gamma function by its series below the mean, by its continued fraction
 * (modified Lentz) above (Press et al., Numerical Recipes, 3rd ed., section 6.2).  Both need some
 * ten sqrt(n) terms. */
double fit_chi2_tail(double chi2, double n)
{
    double a = 0.5 * n, x = 0.5 * chi2, term = 1 / a, sum = term;
    if (!(x > 0))
        return 1;
    double front = exp(-x + a * log(x) - fit_log_gamma(a));
    if (x < a + 1) {
        for (int k = 1; k < 1000000 && term > DBL_EPSILON * sum; k++)
            sum += term *= x / (a + k);
        return fmax(1 - sum * front, 0);
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d, change = 0;
    for (int k = 1; k < 1000000 && fabs(change - 1) > DBL_EPSILON; k++) {
        double an = -k * (k - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        change = d * c;
        h *= change;
    }
    return front * h;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int before(const double *x, size_t a, size_t b)
{
    return x[a] < x[b] || (x[a] <= x[b] && a < b);
}

static void sift(size_t n, const double *x, size_t *index, size_t root)
{
    size_t moved = index[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(x, index[child], index[child + 1]))
            child++;
        if (!before(x, moved, index[child]))
            break;
        index[root] = index[child];
    }
    index[root] = moved;
}

int fit_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void fit_sort_index(size_t n, const double *x, size_t *index)
{
    for (size_t k = 0; k < n; k++)
        index[k] = k;
    for (size_t k = n / 2; k-- > 0;)
        sift(n, x, index, k);
    for (size_t k = n; k-- > 1;) {
        size_t top = index[0];
        index[0] = index[k];
        index[k] = top;
        sift(k, x, index, 0);
    }
}
