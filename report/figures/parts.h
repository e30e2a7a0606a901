/* parts.h -- common parts of the figures of the page and of composed figures (compose.h): axes and marks of curves
 * that follow from the parameters, of g2 over the lag, of the rows of a table, and maps. */
#ifndef RP_PARTS_H
#define RP_PARTS_H

#include "report/draw/panel.h"
#include "report/figures/load.h"

/* ---- curves over time (fig_curves.c) */

/* "γ̇(t)" of the curve shear_rate, as rich text. */
void rp_curve_name(const char *curve, char *text, size_t size);
/* Axes on which n curves of one unit find room; their names stay empty. */
void rp_curve_axes(const struct rp_result *r, const size_t *curve, size_t n, struct rp_axis *t, struct rp_axis *y);
/* Bands and lines, in the colours of the series from `first` on. */
void rp_curve_marks(struct rp_canvas *c, const struct rp_result *r, const size_t *curve, size_t n,
                    const struct rp_panel *p, uint32_t first);

/* ---- g2 over the lag (fig_cuts.c) */

enum { RP_BINS = 72 };

struct rp_bin { /* mean over a range of the lag */
    double tau, g2, model, error, low, high;
};

/* Of a group at an age: how many there are. */
size_t rp_cut_bins(const struct rp_result *r, size_t group, size_t age, struct rp_bin bin[RP_BINS]);
void rp_cut_points(struct rp_canvas *c, const struct rp_panel *p, const struct rp_bin *bin, size_t n, uint32_t ink);
/* The model at all its lags, smooth between them, and the band of the posterior. */
void rp_cut_fit(struct rp_canvas *c, const struct rp_result *r, size_t group, size_t age, const struct rp_panel *p,
                uint32_t ink);

/* ---- rows of a table (fig_rows.c) */

struct rp_rows {
    struct rp_row {
        double x, value, fit, z, sigma, low, high;
    } * row;
    size_t n;
    int single;                     /* there is one covariate: the fit is a line */
    const struct rp_column *column; /* along x; NULL: the number of the row */
    size_t group;
};

/* Rows of a curve in the order of x; row NULL: no memory.  Free row. */
struct rp_rows rp_rows_of(const struct rp_result *r, size_t group);
/* Axes on which n curves find room, but not their names: x, y, residuals. */
void rp_rows_axes(const struct rp_result *r, const struct rp_rows *rows, size_t n, struct rp_axis *x, struct rp_axis *y,
                  struct rp_axis *z);
void rp_rows_marks(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                   const struct rp_panel *below, const struct rp_rows *rows, uint32_t data, uint32_t fit);
/* Their names, as symbols. */
void rp_rows_names(const struct rp_result *r, const struct rp_rows *rows, char *x, char *y, size_t size);
/* "T = 293 K", the value of the column that tells the curves apart. */
void rp_rows_title(const struct rp_result *r, size_t group, char *text, size_t size);

/* ---- maps (fig_maps.c) */

/* Lowest and highest colour of the data of a group, limit of its residuals. */
void rp_map_range(const struct rp_result *r, size_t group, double range[3]);
/* A value of a map of n x n; the diagonal, which is not measured, is filled from its neighbours. */
double rp_map_value(const double *map, size_t n, size_t i, size_t j);
/* A map of a group, of its times, in a panel. */
void rp_map_draw(struct rp_canvas *c, const struct rp_result *r, size_t group, const struct rp_panel *p,
                 const double *map, double lo, double hi, const struct rp_palette *palette);
/* Of a group: the points on a side that its file has, their times; their axis; lags and ages of its cuts. */
size_t rp_map_side(const struct rp_result *r, size_t group);
const double *rp_map_times(const struct rp_result *r, size_t group);
struct rp_axis rp_map_axis(const struct rp_result *r, size_t group);
const double *rp_cut_lags(const struct rp_result *r, size_t group);
const double *rp_cut_ages(const struct rp_result *r, size_t group);

#endif
