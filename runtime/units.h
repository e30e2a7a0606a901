/* units.h -- numbers with units in configurations: `200 um`, `0.054 nm^-1`, `20 us`, `1/nm`,
 * `Å²/s`.
 *
 * A unit is a scale and powers of angstrom, second and degree, the base of everything here.  Bare
 * numbers are taken as they are. */
#ifndef FIT_UNITS_H
#define FIT_UNITS_H

#include <stddef.h>

struct fit_unit {
    double scale;            /* in base units */
    int length, time, angle; /* powers of angstrom, s, degree */
};

/* "angstrom^2/s", "1/angstrom", "nm^-1", "µm", "Å⁻¹", "deg", "1", "dimensionless", "" ... 
 * Products with '*', '·', a space; '/' divides what follows it up to the next operator.  Returns
 * 1, or 0 when it is not a unit. */
int fit_unit_parse(const char *text, struct fit_unit *unit);

/* Same powers. */
int fit_unit_compatible(struct fit_unit a, struct fit_unit b);

/* A decimal number at the beginning of text: 1, -2.5, .5, 1e-8, 1E+5, .inf, inf, nan.  Returns the
 * number of characters used, 0 when there is none.  Hexadecimal is refused. */
size_t fit_number_prefix(const char *text, double *value);

/* True when the whole text is a number (spaces around allowed). */
int fit_number_parse(const char *text, double *value);

enum fit_quantity {
    FIT_QUANTITY_BARE,      /* a number without unit */
    FIT_QUANTITY_CONVERTED, /* a number with a unit, converted to `expect` */
    FIT_QUANTITY_NO_NUMBER, /* not a number at all */
    FIT_QUANTITY_NO_UNIT,   /* what follows the number is not a unit */
    FIT_QUANTITY_OTHER_KIND /* a unit of something else */
};

/* Number with optional unit.  expect: the unit wanted, e.g. "1/angstrom"; NULL or unreadable: no
 * unit may follow.  value is set for BARE and CONVERTED. */
enum fit_quantity fit_quantity_parse(const char *text, const char *expect, double *value);

/* What is suspicious about a bare wavevector (1/angstrom), gap (angstrom): a message, or NULL. */
const char *fit_units_doubt_q(double q);
const char *fit_units_doubt_gap(double gap);

#endif
