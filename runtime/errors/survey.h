/* survey.h -- looks for other regions where the cost is as low as at the minimum of a fit.
 *
 * Profiles follow the valley of the minimum. The survey looks for what they cannot reach:
 *
 *     valleys   of rates A t^E + C: the exponent is held at values throughout its box, A and C along the curve that
 *               keeps the rate (rate_valley.h), the others fitted, from neighbour to neighbour outward;
 *     modes     local minima of the cost along each parameter through the minimum, throughout its bounds (if it has
 *               both); reflections: the sign of a parameter or of a rate, an angle about each measured one; for tables
 *               random points of the box too. The most promising ones are followed to their minima.
 *
 * It uses a sketch of the cost (thin_profile.h) if there is one; the data confirm the results.
 */
#pragma once

#include "errors/thin_profile.h"
#include "leastsquares/crew.h"

struct fit_survey_spec {
    double variance;          /* in whose units a rise counts */
    double inflated;          /* factor by which the rise exceeds that of independent residuals */
    double limit;             /* of the root of the rise: points below it are added to f->evidence */
    double rival;             /* rise below which other minima are added, too */
    struct fit_crew *crew;    /* who does it, */
    struct fit_sketch *const *cheap; /* and what each member asks for costs */
};

/* Around f->res->theta, after fit_covariance(). Other minima are added to f->res; a better one is left in f->better
 * (f->found_lower = 1). FIT_ERR_MEMORY; FIT_ERR_INTERRUPTED. */
enum fit_status fit_survey(struct fit_ls *f, const struct fit_survey_spec *spec);
