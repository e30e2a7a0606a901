/* jacobian.c -- see jacobian.h.  A few points at a time, so that the columns stay in the first-level cache. */
#include "errors/jacobian.h"

enum { ROOM = 2048, MOST = 128 };

void fit_jacobian_rows(const struct fit_tables *t, const struct fit_points *list, double *mean, double *rows)
{
    const uint32_t *i = list->i, *j = list->j, *g = list->g;
    const size_t n = list->n;
    const size_t width = t->kernel->nparam + t->kernel->nlinear, fit = width ? ROOM / width : ROOM;
    const size_t most = fit < 1 ? 1 : fit < MOST ? fit : MOST; /* the column of one point is its row */
    double columns[ROOM];
    for (size_t a = 0, m; a < n; a += m) {
        m = n - a < most ? n - a : most;
        double *to = !rows ? NULL : m == 1 ? rows + a * width : columns;
        const struct fit_points some = {m, i + a, j ? j + a : NULL, g ? g + a : NULL};
        t->kernel->points(t->layout, t->ws, t->lin, &some, mean + a, to);
        for (size_t k = 0; rows && m > 1 && k < m; k++)
            for (size_t c = 0; c < width; c++)
                rows[(a + k) * width + c] = columns[c * m + k];
    }
}
