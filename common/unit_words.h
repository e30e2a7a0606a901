/* unit_words.h -- the words for units of measurement, in one table for the model language and for all data.
 *
 * A word is a size, mantissa 10^decade in base units, and powers of these. Decades are kept separate, so that a
 * factor between units that differ by a power of ten is exact.
 *
 * Sizes: International System of Units (BIPM, 9th edition, 2019; eV, torr: table 8 and its older editions). */
#ifndef COMMON_UNIT_WORDS_H
#define COMMON_UNIT_WORDS_H

#include <stddef.h>

/* Base dimensions; an angle, a count, a photon and a pixel are not dimensionless. Angles can be converted to
 * numbers: radians are. */
enum {
    UNIT_METER,
    UNIT_KILOGRAM,
    UNIT_SECOND,
    UNIT_AMPERE,
    UNIT_KELVIN,
    UNIT_MOLE,
    UNIT_ANGLE,
    UNIT_COUNT,
    UNIT_PHOTON,
    UNIT_PIXEL,
    UNIT_BASES
};
extern const char *const unit_base_name[UNIT_BASES];

struct unit_word {
    const char *name, *constant; /* as in "1/s"; as a name in model files (NULL: none) */
    double mantissa;
    int decade;
    signed char power[UNIT_BASES];
};
extern const struct unit_word unit_words[];
extern const size_t unit_nword;

/* Other spellings of words.  same NULL: dimensionless. */
struct unit_synonym {
    const char *name, *same;
    int exponent;
};
extern const struct unit_synonym unit_synonyms[];
extern const size_t unit_nsynonym;

/* What stands behind a leading micro sign, which models write as u; NULL: there is none. */
const char *unit_behind_micro(const char *name);

/* Words that data use and models do not: ambiguous ones (A: angstrom or, where that does not fit, ampere), and
 * radians, which are dimensionless in models. */
extern const struct unit_word unit_data_words[];
extern const size_t unit_ndata_word;
extern const struct unit_synonym unit_data_synonyms[];
extern const size_t unit_ndata_synonym;

/* Quantities that a measurement gives by name, and the units in which the program keeps them: q 1/angstrom, gap
 * angstrom, phi deg, dt s.
 */
struct unit_told {
    const char *name, *unit;
};
extern const struct unit_told unit_told[];
extern const size_t unit_ntold;

#endif
