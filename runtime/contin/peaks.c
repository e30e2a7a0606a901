/* peaks.c -- the modes of a distribution, with their intervals; intervals of sorted numbers. */
#include "contin/contin_impl.h"

#include <math.h>
#include <string.h>

static const double VALLEY = 0.8;     /* a valley is deeper than this fraction of the lower of its two peaks */
static const double LIGHTEST = 0.005; /* modes of a smaller fraction of the whole do not count */
static const double FLOOR = 0.01;     /* a mode ends where less than this fraction of the top is left */
enum { MARGIN = 2 };                  /* points further on */

void contin_peak_moments(const struct contin_peak *p, size_t n, const double *u, const double *x, double *mean,
                         double *weight, double *width)
{
    double all = 0, s0 = 0, s1 = 0, s2 = 0;
    for (size_t k = 0; k < n; k++)
        all += x[k];
    for (size_t k = p->first; k <= p->last; k++) {
        s0 += x[k];
        s1 += x[k] * log(u[k]);
    }
    s1 = s0 > 0 ? s1 / s0 : NAN;
    for (size_t k = p->first; k <= p->last; k++)
        s2 += x[k] * (log(u[k]) - s1) * (log(u[k]) - s1);
    *mean = exp(s1);
    *weight = s0 / all;
    *width = s0 > 0 ? sqrt(s2 / s0) : NAN;
}

/* A mode that begins `away` points from an end of the grid, with its top `far` from it: beyond the end the
 * distribution is assumed to be 0, so that a truncated one bends down within a point or two. */
static int is_at_edge(size_t away, size_t far, double end, double top)
{
    return away == 0 && (far <= MARGIN || end > 0.5 * top);
}

static void take(size_t n, const double *u, const double *x, size_t first, size_t last, struct contin_result *r)
{
    size_t top = first;
    for (size_t k = first; k <= last; k++)
        top = x[k] > x[top] ? k : top;
    struct contin_peak p = {.first = first, .last = last};
    while (p.first < top && x[p.first] < FLOOR * x[top])
        p.first++;
    while (p.last > top && x[p.last] < FLOOR * x[top])
        p.last--;
    p.first = p.first > first + MARGIN ? p.first - MARGIN : first;
    p.last = p.last + MARGIN < last ? p.last + MARGIN : last;
    p.mean[1] = p.mean[2] = p.weight[1] = p.weight[2] = p.width[1] = p.width[2] = NAN;
    contin_peak_moments(&p, n, u, x, &p.mean[0], &p.weight[0], &p.width[0]);
    p.at_edge = is_at_edge(p.first, top, x[0], x[top])                      ? -1
                : is_at_edge(n - 1 - p.last, n - 1 - top, x[n - 1], x[top]) ? 1
                                                                            : 0;
    if (p.at_edge)
        p.mean[0] = p.width[0] = NAN;
    if (p.weight[0] >= LIGHTEST && r->npeak < CONTIN_PEAKS)
        r->peak[r->npeak++] = p;
}

/* From the left: after a top, a mode ends at a valley that is deep enough and from which the distribution rises
 * again. Of several lowest points the middle one is taken. */
void contin_find_peaks(size_t n, const double *u, const double *x, struct contin_result *r)
{
    size_t first = 0, low = 0, low_end = 0;
    double top = x[0];
    r->npeak = 0;
    low = low_end = 0;
    for (size_t k = 1; k < n; k++) {
        if (top <= x[low] || x[k] < x[low]) { /* still rising, or a lower valley */
            if (x[k] > top)
                top = x[k];
            low = low_end = k;
        } else if (x[k] <= x[low]) {
            low_end = k;
        }
        const int deep = x[low] < VALLEY * top && x[low] < VALLEY * x[k];
        if (deep && k > low_end) {
            const size_t cut = (low + low_end) / 2;
            take(n, u, x, first, cut, r);
            first = cut + 1;
            top = x[k];
            low = low_end = k;
        } else if (x[k] > top) {
            top = x[k];
            low = low_end = k;
        }
    }
    take(n, u, x, first, n - 1, r);
}

void contin_interval(size_t n, const double *sorted, double part, int bounded, double range[2])
{
    const size_t m = (size_t)ceil(part * (double)n);
    range[0] = range[1] = NAN;
    if (n == 0 || m == 0)
        return;
    range[0] = bounded ? 0 : sorted[0];
    range[1] = sorted[m - 1];
    for (size_t k = 0; k + m <= n; k++)
        if (sorted[k + m - 1] - sorted[k] < range[1] - range[0]) {
            range[0] = sorted[k];
            range[1] = sorted[k + m - 1];
        }
}
