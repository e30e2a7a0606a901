/* outliers.c -- see outliers.h. */
#include "speckle/outliers.h"

#include <math.h>
#include <stdlib.h>

#include "math/special.h"

static const double COVERED = 0.5; /* fraction of the values of an element above which it counts */
static const double PRESENT = 0.9; /* of the elements: what stands for the others is no noise */
static const double SHOT = 0.05;   /* least shot noise relative to the contrast: with less, innovations are small
                                    * differences of C, which the fit does not know well enough */
static const double MEDIAN = 0.67449; /* of the size of a normal number */
enum {
    LEAST = 60, /* elements */
    REACH = 5   /* rows before and after one with which it is compared */
};

/* An element divided by its fraction; NaN: it does not count. */
static double element(const struct fit_speckle_elements *x, size_t a, size_t c)
{
    const double cover = x->cover[a * x->n + c];
    return a != c && cover >= COVERED ? x->X[a * x->n + c] / cover : NAN;
}

/* Mean of the squares of a row. */
static double mean_square(const struct fit_speckle_elements *x, size_t a)
{
    double sum = 0, number = 0;
    for (size_t c = 0; c < x->n; c++) {
        const double v = element(x, a, c);
        if (!isnan(v)) {
            sum += v * v;
            number++;
        }
    }
    return number > 0 ? sum / number : 0;
}

/* size <- root mean square size of the elements of each row: medians of `square` over nearby rows. */
static void usual_size(size_t n, const double *square, double *size)
{
    for (size_t a = 0; a < n; a++) {
        double near[2 * REACH + 1];
        size_t number = 0;
        for (size_t c = a > REACH ? a - REACH : 0; c < n && c <= a + REACH; c++)
            near[number++] = square[c];
        qsort(near, number, sizeof *near, fit_ascending);
        size[a] = sqrt(sqrt((near[(number - 1) / 2] + near[number / 2]) / 2));
    }
}

/* Sums of the second and fourth powers of row a, its elements before `end`; returns how many. */
static size_t add_row(const struct fit_speckle_elements *x, const double *size, size_t a, size_t end, double power[2])
{
    size_t number = 0;
    for (size_t c = 0; c < end; c++) {
        const double v = element(x, a, c) / (size[a] * size[c]);
        if (!isfinite(v))
            continue;
        power[0] += v * v;
        power[1] += v * v * v * v;
        number++;
    }
    return number;
}

/* Variance of the elements without outliers: from the median of their size. */
static double usual_variance(const struct fit_speckle_elements *x, double *sizes)
{
    size_t number = 0;
    for (size_t a = 0; a < x->n; a++)
        for (size_t c = 0; c < a; c++) {
            const double v = fabs(element(x, a, c));
            if (!isnan(v))
                sizes[number++] = v;
        }
    qsort(sizes, number, sizeof *sizes, fit_ascending);
    return number ? pow(sizes[number / 2] / MEDIAN, 2) : 0;
}

/* The row with the largest fourth power; not the first, which contains what all frames share. */
static size_t loudest(const struct fit_speckle_elements *x, const double *size)
{
    double most = 0;
    size_t block = 0;
    for (size_t a = 1; a < x->n; a++) {
        double power[2] = {0};
        add_row(x, size, a, x->n, power);
        if (power[1] > most) {
            most = power[1];
            block = a;
        }
    }
    return block;
}

struct fit_speckle_outliers fit_speckle_find_outliers(const struct fit_speckle_elements *x, double *room)
{
    const double b = x->contrast, s2 = x->shot;
    const double k = (9 * (1 + 2 * b) * (1 + 3 * b) + 6 * s2 * (1 + 2 * b) + s2 * s2) / (1 + b) - 3;
    double *square = room, *size = room + x->n, power[2] = {0};
    size_t number = 0;
    for (size_t a = 0; a < x->n; a++)
        square[a] = mean_square(x, a);
    usual_size(x->n, square, size);
    for (size_t a = 0; a < x->n; a++)
        number += add_row(x, size, a, a, power);
    const double n = (double)number, all = (double)x->n * (double)(x->n - 1) / 2;
    if (s2 < SHOT * b || number < LEAST || n < PRESENT * all || !(power[0] > 0) || !isfinite(power[1]))
        return (struct fit_speckle_outliers){0};
    const double more = k * usual_variance(x, size + x->n), sd = sqrt(24 / n + more * more);
    const double kurtosis = n * power[1] / (power[0] * power[0]);
    return (struct fit_speckle_outliers){.p = fmin(exp(-1 - (kurtosis - 3 - more) / sd), 1),
                                         .kurtosis = kurtosis,
                                         .expected = 3 + more,
                                         .block = loudest(x, size)};
}
