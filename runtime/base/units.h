/* units.h -- units of input: `200 um`, `0.054 nm^-1`, `20 us`, `1/nm`, `Å²/s`, a header `x (eV)`, an attribute
 * `units`; and the one place where numbers are converted from one unit to another.
 *
 * A unit is a size and powers of base dimensions; the words are those of models (common/unit_words.h) and spellings
 * that only data have. Words that a model declares are units of their own.
 *
 * The rule: every quantity of a model declares its unit; an input number has its own unit, or is in the documented
 * unit; it is converted, or refused with both units named. Quantities of a measurement (q, gap, phi, dt) are kept in
 * the units of fit_units_of() everywhere in the program; fit_units_to_model() converts them for kernels to the
 * declared unit. */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "common/unit_words.h"

enum { FIT_UNIT_OWN = 3, FIT_UNIT_ROOT = 27720 /* a multiple of 1 .. 12 */ };

struct fit_unit {
    double mantissa, decade; /* size: mantissa 10^decade base units */
    int power[UNIT_BASES];   /* times FIT_UNIT_ROOT */
    struct {
        char name[24]; /* "" : none */
        int power;
    } own[FIT_UNIT_OWN]; /* words that the model declares, in the order of their names */
};

/* "angstrom^2/s", "1/angstrom", "nm^-1", "nm-1", "µm", "Å⁻¹", "W/(m*K)", "s^(1/2)", "deg", "1", "dimensionless", "" ...
 * Products with '*', '·', '.', a space; '/' divides what follows it up to the next operator.  Returns 1, or 0 when it
 * is not a unit. */
int fit_unit_parse(const char *text, struct fit_unit *unit);

/* True when the whole text is a number (spaces around allowed). */
int fit_number_parse(const char *text, double *value);

enum fit_quantity {
    FIT_QUANTITY_BARE,      /* a number without unit */
    FIT_QUANTITY_CONVERTED, /* a number with a unit, converted to `expect` */
    FIT_QUANTITY_NO_NUMBER, /* not a number at all */
    FIT_QUANTITY_NO_UNIT,   /* what follows the number is not a unit */
    FIT_QUANTITY_OTHER_KIND /* a unit of something else */
};

/* Converts numbers from one unit to another: x times / over. For powers of ten one of the two is 1 and the other
 * exact, so that there is one rounding. */
struct fit_unit_factor {
    double times, over;
};
static inline double fit_unit_apply(struct fit_unit_factor f, double x)
{
    return x * f.times / f.over;
}

/* From a unit of data to a unit that a model (or an option) declares; words declared in `to` are known in `from`.
 * Angles become radians where `to` is a number. CONVERTED, NO_UNIT or OTHER_KIND. */
enum fit_quantity fit_unit_between(const char *from, const char *to, struct fit_unit_factor *factor);

/* 1: the factor changes nothing. */
int fit_unit_same(struct fit_unit_factor f);

/* Number with optional unit.  expect: the unit wanted, e.g. "1/angstrom"; NULL: no
 * unit may follow.  value is set for BARE and CONVERTED. */
enum fit_quantity fit_quantity_parse(const char *text, const char *expect, double *value);

/* "is not a known unit", "is another kind of unit": follows a refused text. */
const char *fit_quantity_why(enum fit_quantity kind);

/* ---- quantities of a measurement --------------------------------------------------------------------------- */

/* The unit in which the program keeps q, gap, phi, dt: 1/angstrom, angstrom, deg, s; NULL: no such quantity. */
const char *fit_units_of(const char *name);

/* 1 when a model's quantity of this name is that of the measurement: its declared unit has the same dimensions. */
int fit_units_means(const char *name, const char *declared);

/* From the program's unit to the model's, and back; NaN for any other quantity, or one with another meaning.
 */
double fit_units_to_model(const char *name, const char *declared, double value);
double fit_units_from_model(const char *name, const char *declared, double value);

/* A full turn of an angle that a model declares in this unit: 360 for deg, 2 pi for radians. */
double fit_units_turn(const char *declared);

/* A message about a suspicious bare wavevector (1/angstrom) or gap (angstrom), or NULL. */
const char *fit_units_doubt_q(double q);
const char *fit_units_doubt_gap(double gap);
