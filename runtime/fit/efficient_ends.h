/* efficient_ends.h -- intervals of efficient estimates with the noise at their ends (errors/speckle_rise.h).
 *
 * Where the cost is not quadratic both ends of 68 and 95 % start at those of the table, whose noise is fixed, and are
 * moved by secants until the cost with the noise there is at the limit of Student's t. A standard error is reported
 * where that interval permits it (errors/profile.h), and is half of the corresponding 68 % interval of a quadratic
 * cost.
 */
#pragma once

#include "errors/speckle_rise.h"
#include "leastsquares/fit_types.h"

struct fit_efficient_ends {
    struct fit_speckle_rise *rise;
    struct fit_result *r; /* of the table: is changed */
    double freedom;       /* of the noise */
    enum fit_status (*held)(void *user, size_t k, double v, struct fit_result *out); /* a fit with parameter k at v */
    void *user;
};

/* Returns what `held` does. */
enum fit_status fit_efficient_ends(const struct fit_efficient_ends *e);

/* Withholds errors whose 95 % interval a bound cuts to less than 1/FIT_PROFILE_MUCH on a side: an estimate
 * restricted to [-10, 10] has no error of 8. The interval stays. */
void fit_efficient_bounds(struct fit_result *r);
