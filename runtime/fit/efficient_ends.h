/* efficient_ends.h -- intervals of efficient estimates with the noise of where they end (errors/speckle_rise.h).
 *
 * Where the cost is no paraboloid both ends of 68 and 95 % are begun at those of the table, whose noise is held, and
 * moved by secants until the cost with the noise there is at the limit of Student's t.  A standard error is told where
 * that interval allows it (errors/profile.h), and is half of the interval of 68 % that a paraboloid has.
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

/* Takes away errors of which a bound cuts the interval of 95 % to less than its part of FIT_PROFILE_MUCH on a side: an
 * estimate that cannot leave [-10, 10] has no error of 8.  The interval stays. */
void fit_efficient_bounds(struct fit_result *r);
