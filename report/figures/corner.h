/* corner.h -- what figures of draws share. */
#ifndef RP_CORNER_H
#define RP_CORNER_H

#include "report/draw/panel.h"
#include "report/figures/figures.h"

/* Axis of parameter k: all but 0.2 % of its draws, and the least-squares value where that is near. */
struct rp_axis rp_draws_axis(const struct rp_result *r, size_t k);

/* In which of n equal parts of the axis x lies; n: in none. */
size_t rp_draws_bin(double x, const struct rp_axis *a, size_t n);

void rp_list_corner(const struct rp_result *r, struct rp_figures *list);
void rp_list_forest(const struct rp_result *r, struct rp_figures *list);

#endif
