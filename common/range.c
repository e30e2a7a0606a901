/* range.c -- declared ranges of numbers; see range.h. */
#include "common/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int range_holds(double lower, double upper, double x)
{
    return isfinite(x) && (!(lower < upper) || (x >= lower && x <= upper));
}

void range_text(double lower, double upper, const char *unit, char out[RANGE_TEXT])
{
    const int has_unit = unit && *unit && strcmp(unit, "1") != 0;
    const char *space = has_unit ? " " : "";
    unit = has_unit ? unit : "";
    out[0] = 0;
    if (!(lower < upper) || (isinf(lower) && isinf(upper)))
        return;
    const double from = lower == RANGE_ABOVE_0 ? 0 : lower;
    const char *above = lower == RANGE_ABOVE_0 ? "above" : "at least";
    if (isinf(upper))
        snprintf(out, RANGE_TEXT, "%s %g%s%.40s", above, from, space, unit);
    else if (isinf(lower))
        snprintf(out, RANGE_TEXT, "at most %g%s%.40s", upper, space, unit);
    else
        snprintf(out, RANGE_TEXT, "%s %g to %g%s%.40s", lower == RANGE_ABOVE_0 ? "above" : "from", from, upper, space,
                 unit);
}
