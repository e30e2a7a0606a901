/* units.h -- units of measurement: products of named units with rational exponents.
 *
 * "angstrom^2/s", "1/angstrom", "kg*m^2/s^2", "W/(m*K)", "s^(1/2)", "s^-0.5", "1" (dimensionless). A space or a dot
 * multiplies like *; a division applies to the next factor only, so "J/mol/K" is J mol^-1 K^-1.
 *
 * Units are distinct: nothing is converted silently, and nm and angstrom cannot be added. Some words are synonyms: Å =
 * angstrom, sec = second = s, Hz = 1/s, rad = 1, degree = deg. A word that is not in the table (units.c) must be
 * declared.
 *
 * Units are small integers, equal when the units are equal.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

typedef uint32_t hg_unit;

enum {
    HG_UNIT_ONE,     /* dimensionless */
    HG_UNIT_ANY,     /* of the number 0, and of the results of an error: agrees with every unit */
    HG_UNIT_BOOL,    /* of a comparison: no number */
    HG_UNIT_UNKNOWN  /* of a derived node whose unit depends on the value of a parameter */
};

struct hg_units;

struct hg_units *hg_units_new(struct hg_arena *a);

/* Declares a word of the model's own, such as "cell"; it is kept by reference. Returns 0 and *why when it is not a
 * word or is already known. */
int hg_unit_declare(struct hg_units *u, const char *word, const char **why);

/* Reads a unit.  Returns 0 and *why (a sentence without a full stop) when the text is not one. */
int hg_unit_parse(struct hg_units *u, const char *text, hg_unit *unit, const char **why);

/* The unit as text, positive exponents first: "angstrom^2/s", "1/s"; "1" when dimensionless. */
const char *hg_unit_text(struct hg_units *u, hg_unit unit);

/* Products, and powers by num/den.  ANY and UNKNOWN are passed on. */
hg_unit hg_unit_mul(struct hg_units *u, hg_unit a, hg_unit b);
hg_unit hg_unit_div(struct hg_units *u, hg_unit a, hg_unit b);
hg_unit hg_unit_pow(struct hg_units *u, hg_unit a, int num, int den);

/* The same with a number as exponent; 0 when it is not a ratio of small integers. */
int hg_unit_pow_number(struct hg_units *u, hg_unit a, double exponent, hg_unit *unit);

/* Two units of the same dimension: 1 and the number of `to` in one `from` (1 nm = 10 angstrom). */
int hg_unit_factor(struct hg_units *u, hg_unit from, hg_unit to, double *factor);

/* The unit in base units, for messages: "kg/m/s" for Pa s. Units that base units would not clarify stay as they are:
 * angstrom^2/s, and words of the model's own. */
const char *hg_unit_base_text(struct hg_units *u, hg_unit unit);

/* The k-th long name that stands for a unit in model files ("second", "angstrom", ...) and the
 * unit's text; NULL after the last. */
const char *hg_unit_constant(size_t k, const char **text);
