/* scores_strip.c -- sums over a row of residuals, four columns at a time; see scores_strip.h. */
#include "errors/scores_strip.h"

#include <math.h>
#include <string.h>

#include "base/each_isa.h"

#define FIT_VL FIT_STRIP_LANES /* whatever the machine; gcc makes masks of wider vectors lane by lane */
#include "fit/vmath.h"

enum { L = FIT_LANES, V = FIT_VL };

/* Behind the last column. */
FIT_INLINE size_t end_of(const struct fit_strip *s)
{
    return s->base + s->nvector * L;
}

/* Derivatives where nothing counts, which may be anything. */
static void clear_derivatives(const struct fit_strip *s)
{
    const size_t n = s->nvector * L;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; !(s->count[s->base + k] > 0) && c < s->P; c++)
            s->jac[c * n + k] = 0;
}

EACH_ISA
static int settle(struct fit_strip *s)
{
    const fit_vd zero = {0}, one = fit_vset1(1);
    fit_vm all = ~(fit_vm){0};
    for (size_t k = s->base; k < end_of(s); k += V) {
        const fit_vd v = fit_vloadu(s->v + k);
        const fit_vm ok = v > 0;
        const fit_vd r = fit_vselect(ok, fit_vloadu(s->y + k) - fit_vloadu(s->mean + k), zero);
        const fit_vd w = fit_vselect(ok, fit_vloadu(s->w + k), zero), root = fit_vsqrt(fit_vselect(ok, v, zero));
        all &= ok;
        fit_vstoreu(s->r + k, r);
        fit_vstoreu(s->w + k, w);
        fit_vstoreu(s->v + k, fit_vselect(ok, v, zero));
        fit_vstoreu(s->score + k, w * r);
        fit_vstoreu(s->root + k, root);
        fit_vstoreu(s->z + k, root * r);
        fit_vstoreu(s->count + k, fit_vselect(ok, one, zero));
    }
    return fit_vall(all);
}

void fit_strip_settle(struct fit_strip *s)
{
    double *before[] = {s->z + s->base - L, s->count + s->base - L};
    for (size_t k = 0; k < 2; k++)
        memset(before[k], 0, L * sizeof(double));
    if (!settle(s))
        clear_derivatives(s);
}

EACH_ISA
void fit_strip_add_scores(const struct fit_strip *s, double *sum)
{
    const double *jac = s->jac;
    for (size_t c = 0; c < s->P; c++) {
        double *to = sum + c * s->width + s->base;
        const double *x = s->score + s->base;
        for (size_t k = 0; k < s->nvector * L; k += V, jac += V)
            fit_vstoreu(to + k, fit_vloadu(to + k) + fit_vloadu(x + k) * fit_vloadu(jac));
    }
}

EACH_ISA
void fit_strip_add_both(const struct fit_strip *s, double *sum, double *field)
{
    const double *jac = s->jac, *x = s->score + s->base, *v = s->v + s->base, *r = s->r + s->base;
    const size_t n = s->nvector * L;
    for (size_t c = 0; c < s->P; c++, jac += n) {
        double *to = sum + c * s->width + s->base, *too = field + c * s->width + s->base;
        for (size_t k = 0; k < n; k += V) {
            const fit_vd slope = fit_vloadu(jac + k);
            fit_vstoreu(to + k, fit_vloadu(to + k) + fit_vloadu(x + k) * slope);
            fit_vstoreu(too + k, fit_vloadu(too + k) + fit_vloadu(v + k) * slope);
        }
    }
    double *last = field + s->P * s->width + s->base;
    for (size_t k = 0; k < n; k += V)
        fit_vstoreu(last + k, fit_vloadu(last + k) + fit_vloadu(v + k) * fit_vloadu(r + k));
}

FIT_INLINE void add_to(double *lanes, fit_vd x)
{
    fit_vstoreu(lanes, fit_vloadu(lanes) + x);
}

/* Products and counts of neighbours: each column with the one before in z and count. */
FIT_INLINE void add_products(const struct fit_strip *s, const double *z, const double *count, double *sum,
                             double *number)
{
    fit_vd product = {0}, both = {0};
    for (size_t k = s->base; k < end_of(s); k += V) {
        product += fit_vloadu(s->z + k) * fit_vloadu(z + k - 1);
        both += fit_vloadu(s->count + k) * fit_vloadu(count + k - 1);
    }
    add_to(sum, product);
    add_to(number, both);
}

EACH_ISA
void fit_strip_test(const struct fit_strip *s, const double *const above[2], struct fit_strip_sums *sums,
                    double row[3])
{
    fit_vd sum[3] = {{0}}, z4 = {0};
    for (size_t k = s->base; k < end_of(s); k += V) {
        const fit_vd z = fit_vloadu(s->z + k), square = z * z;
        sum[0] += z;
        sum[1] += square;
        sum[2] += fit_vloadu(s->count + k);
        z4 += square * square;
    }
    for (size_t k = 0; k < 3; k++)
        row[k] = fit_vsum(sum[k]);
    add_to(sums->z4, z4);
    add_products(s, s->z, s->count, sums->lag, sums->nlag);
    if (above)
        add_products(s, above[0], above[1], sums->age, sums->nage);
}

/* What lies in [begin, end) of the vectors that hold these columns, from `from` on; 0 beside it. */
FIT_INLINE void cut(const double *x, size_t begin, size_t end, size_t from, size_t to, double *out)
{
    for (size_t k = from; k < to; k += V)
        fit_vstoreu(out + k - from, fit_vloadu(x + k));
    for (size_t k = from; k < begin; k++)
        out[k - from] = 0;
    for (size_t k = end; k < to; k++)
        out[k - from] = 0;
}

EACH_ISA
static void add_some(const struct fit_strip *s, size_t begin, size_t end, double *bin, double *decile)
{
    const size_t from = begin / V * V, to = (end + V - 1) / V * V;
    double z[FIT_STRIP_SOME], count[FIT_STRIP_SOME], root[FIT_STRIP_SOME];
    fit_vd sum = {0}, square = {0}, number = {0};
    cut(s->z, begin, end, from, to, z);
    cut(s->count, begin, end, from, to, count);
    cut(s->root, begin, end, from, to, root);
    for (size_t k = 0; k < to - from; k += V) {
        const fit_vd x = fit_vloadu(z + k);
        sum += x;
        square += x * x;
        number += fit_vloadu(count + k);
    }
    add_to(bin, number);
    add_to(bin + V, sum);
    add_to(bin + 2 * V, square);
    add_to(decile, square);
    add_to(decile + V, number);
    const double *jac = s->jac + from - s->base;
    for (size_t c = 0; c < s->P; c++, jac += s->nvector * L) {
        fit_vd x = {0};
        for (size_t k = 0; k < to - from; k += V)
            x += fit_vloadu(root + k) * fit_vloadu(jac + k);
        add_to(bin + (3 + c) * V, x);
    }
}

void fit_strip_add_bin(const struct fit_strip *s, size_t begin, size_t end, double *bin, double *decile)
{
    for (size_t from = begin, to; from < end; from = to) {
        to = (from / FIT_STRIP_SOME + 1) * FIT_STRIP_SOME;
        to = to < end ? to : end;
        add_some(s, from, to, bin, decile);
    }
}

EACH_ISA
void fit_strip_known(const struct fit_strip *s, const double *x, double *to)
{
    for (size_t k = s->base; k < end_of(s); k += V)
        fit_vstoreu(to + k, fit_vselect(fit_vloadu(s->count + k) > 0, fit_vloadu(x + k), fit_vset1(NAN)));
}

double fit_strip_total(const double lanes[FIT_STRIP_LANES])
{
    return fit_vsum(fit_vloadu(lanes));
}
