/* units.c -- numbers of other programs in the units that models declare. */
#include "base/units.h"
#include "api/api.h"

#include <math.h>
#include <string.h>

static int refused(enum fit_quantity kind, const char *text, const char *unit)
{
    struct fit_error err = {.status = FIT_OK};
    if (kind == FIT_QUANTITY_NO_NUMBER)
        fit_fail(&err, FIT_ERR_DATA, "'%.60s' is not a number", text);
    else
        fit_fail(&err, FIT_ERR_DATA, "'%.60s' %s; expected is %s", text, fit_quantity_why(kind),
                 strcmp(unit, "1") == 0 ? "a number without unit" : unit);
    return api_failed(&err);
}

API int fit_api_quantity(const char *text, const char *unit, double *value)
{
    const enum fit_quantity kind = fit_quantity_parse(text, unit, value);
    return kind == FIT_QUANTITY_BARE || kind == FIT_QUANTITY_CONVERTED ? 0 : refused(kind, text, unit);
}

API int fit_api_unit(const char *from, const char *unit, double *times, double *over)
{
    struct fit_unit_factor f;
    const enum fit_quantity kind = fit_unit_between(from, unit, &f);
    *times = f.times;
    *over = f.over;
    return kind == FIT_QUANTITY_CONVERTED ? 0 : refused(kind, from, unit);
}
