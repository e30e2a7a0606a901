/* pair.h -- figures of two results side by side: A in the first colour, B in the second. */
#ifndef RP_PAIR_H
#define RP_PAIR_H

#include "report/draw/canvas.h"
#include "report/figures/load.h"

struct rp_pair {
    const struct rp_result *r[2];
    int same_data;
    size_t n; /* places that both have */
    struct rp_place {
        size_t group[2];
    } * place;
};

/* Corresponding groups (azimuths, wavevectors, curves of a table). FIT_ERR_MEMORY. */
enum fit_status rp_pair_match(struct rp_pair *p, struct fit_error *err);

/* Are the maps on the same grid of times, so that a difference can be drawn? */
int rp_pair_same_grid(const struct rp_pair *p);

/* Place k.  Maps: of the same data both fits and their difference, else both data and the differences of data and of
 * fits.  Their size: rp_pair_maps_width, RP_PAIR_MAPS. */
enum { RP_PAIR_MAPS = 290, RP_PAIR_CUTS = 300, RP_PAIR_CURVE = 290, RP_PAIR_ROWS = 290 };
double rp_pair_maps_width(const struct rp_pair *p);
void rp_pair_maps(struct rp_canvas *c, const struct rp_pair *p, size_t k);
void rp_pair_cuts(struct rp_canvas *c, const struct rp_pair *p, size_t k); /* g2 over the lag, of every age */
void rp_pair_rows(struct rp_canvas *c, const struct rp_pair *p, size_t k); /* of tables */

/* Curve `of` of A beside that of the same name and unit of B; -1: B has none. */
long rp_pair_curve_partner(const struct rp_pair *p, size_t of);
void rp_pair_curve(struct rp_canvas *c, const struct rp_pair *p, size_t of);

/* Differences of parameters in standard deviations; rows: those of the comparison (JSON of `compare`). */
double rp_pair_sigmas_height(const struct fit_yaml *rows);
void rp_pair_sigmas(struct rp_canvas *c, const struct fit_yaml *rows, double limit);

#endif
