/* units.c -- reading units, and numbers with units; see units.h.
 *
 *     unit:   factor { operator factor },  operator  * · . / or a blank
 *     factor: word [power], 1, or ( unit )
 *     power:  ^2  **-1  -1  2  ^(1/2)  ^0.5  ⁻¹
 *
 * Superscript digits and the two characters that Unicode has for the angstrom and the micro sign are accepted. The
 * decimal separator is a point in any locale. */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD = 24, TERMS = 12, DEPTH = 4, ROOTS = 12, POWER_MOST = 99 };

static const char *const superscript[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Skips blanks. */
static const char *skip_blank(const char *t)
{
    for (;;) {
        if (*t == ' ' || *t == '\t')
            t++;
        else if (starts(t, "\xC2\xA0")) /* no-break space */
            t += 2;
        else
            return t;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Length of [sign] digits [. digits] [e [sign] digits]; 0 when the mantissa has no digit. */
static size_t decimal_length(const char *t)
{
    size_t n = *t == '-' || *t == '+', digits = 0;
    while (t[n] >= '0' && t[n] <= '9')
        n++, digits++;
    if (t[n] == '.')
        for (n++; t[n] >= '0' && t[n] <= '9'; digits++)
            n++;
    if (!digits)
        return 0;
    if (t[n] == 'e' || t[n] == 'E') {
        size_t m = n + 1;
        m += t[m] == '-' || t[m] == '+';
        if (t[m] >= '0' && t[m] <= '9') {
            while (t[m] >= '0' && t[m] <= '9')
                m++;
            n = m;
        }
    }
    return n;
}

static size_t special_number(const char *t, double *value)
{
    static const struct {
        const char *text;
        double value;
    } special[] = {{".inf", INFINITY}, {".Inf", INFINITY}, {".INF", INFINITY}, {"inf", INFINITY},
                   {".nan", NAN},      {".NaN", NAN},      {".NAN", NAN},      {"nan", NAN}};
    const size_t sign = *t == '-' || *t == '+';
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (starts(t + sign, special[i].text)) {
            *value = *t == '-' ? -special[i].value : special[i].value;
            return sign + strlen(special[i].text);
        }
    }
    return 0;
}

/* A decimal number at the beginning of text: 1, -2.5, .5, 1e-8, 1E+5, .inf, inf, nan.  Returns the
 * number of characters used, 0 when there is none.  Hexadecimal is refused. */
static size_t number_prefix(const char *text, double *value)
{
    const size_t n = decimal_length(text);
    char copy[64];
    if (!n)
        return special_number(text, value);
    if (n >= sizeof copy)
        return 0;
    memcpy(copy, text, n);
    copy[n] = 0;
    char *end;
    *value = strtod(copy, &end);
    if (*end == '.') { /* a locale that writes a comma */
        *end = ',';
        *value = strtod(copy, &end);
    }
    return *end ? 0 : n;
}

/* ---- powers ---------------------------------------------------------------------------------- */

/* "⁻¹", "²": the characters used, 0 when there are none, -1 on error. */
static ptrdiff_t read_superscript(const char *text, int *power)
{
    const char *t = text;
    int sign = 1, digits = 0, value = 0;
    if (starts(t, "⁻")) {
        sign = -1;
        t += strlen("⁻");
    }
    for (int d = 0; d < 10 && digits < 2; d++) {
        if (starts(t, superscript[d])) {
            t += strlen(superscript[d]);
            value = 10 * value + d;
            digits++;
            d = -1;
        }
    }
    *power = sign * value * FIT_UNIT_ROOT;
    return sign < 0 && !digits ? -1 : t - text;
}

/* A ratio in multiples of 1/FIT_UNIT_ROOT; 0 when it is not a ratio of small integers. */
static int as_power(double value, int *power)
{
    for (int den = 1; den <= ROOTS; den++)
        if (fabs(value) <= POWER_MOST && fabs(value * den - round(value * den)) < 1e-9) {
            *power = (int)lround(value * den) * (FIT_UNIT_ROOT / den);
            return 1;
        }
    return 0;
}

/* A number, or two in parentheses, "(1/2)"; the characters used, -1 on error. */
static ptrdiff_t read_ratio(const char *text, int *power)
{
    const char *t = skip_blank(text);
    double value, below = 1;
    const int bracket = *t == '(';
    size_t n = number_prefix(t += bracket, &value);
    if (!n)
        return -1;
    t += n;
    if (bracket) {
        t = skip_blank(t);
        if (*t == '/') {
            t = skip_blank(t + 1);
            if (!(n = number_prefix(t, &below)))
                return -1;
            t = skip_blank(t + n);
        }
        if (*t++ != ')')
            return -1;
    }
    return as_power(value / below, power) ? t - text : -1;
}

/* A power after a word, or nothing (1).  Returns the characters used, -1 on error. */
static ptrdiff_t read_power(const char *text, int *power)
{
    const int sign = *text == '-' || *text == '+', mark = *text == '^' ? 1 : starts(text, "**") ? 2 : 0;
    *power = FIT_UNIT_ROOT;
    if (mark) {
        const ptrdiff_t n = read_ratio(text + mark, power);
        return n < 0 ? -1 : n + mark;
    }
    if (isdigit((unsigned char)text[sign])) { /* nm-1, s2 */
        char *end;
        const long value = strtol(text, &end, 10);
        return labs(value) <= POWER_MOST && as_power((double)value, power) ? end - text : -1;
    }
    const ptrdiff_t n = read_superscript(text, power);
    if (n == 0)
        *power = FIT_UNIT_ROOT;
    return n;
}

/* ---- words ----------------------------------------------------------------------------------- */

struct reader {
    struct fit_unit unit;
    const char *own; /* a unit with known words, or NULL */
    int second;      /* the second meaning of ambiguous words */
    int terms, depth;
};

/* Number of letters of the word that begins here; UTF-8 counts, signs and superscripts do not. */
static size_t word_length(const char *t)
{
    size_t n = 0;
    if (*t == '%')
        return 1;
    while (isalpha((unsigned char)t[n]) || t[n] == '_' || ((unsigned char)t[n] & 0x80)) {
        if (starts(t + n, "·") || starts(t + n, "⁻") || starts(t + n, "\xC2\xA0"))
            break;
        int d = 0;
        while (d < 10 && !starts(t + n, superscript[d]))
            d++;
        if (d < 10)
            break;
        n++;
    }
    return n;
}

static int is_constant(const char *name, const char *constant)
{
    const size_t n = strlen(constant), m = strlen(name);
    return strcmp(name, constant) == 0 || (n >= 4 && (m == n || (m == n + 1 && (name[n] == 's' || name[n] == 'S'))) &&
                                           strncasecmp(name, constant, n) == 0);
}

static const struct unit_word *known_word(const struct reader *r, const char *name)
{
    const struct unit_word *first = NULL;
    for (size_t k = 0; k < unit_ndata_word; k++)
        if (strcmp(name, unit_data_words[k].name) == 0) {
            if (first && r->second)
                return &unit_data_words[k];
            first = first ? first : &unit_data_words[k];
        }
    for (size_t k = 0; !first && k < unit_nword; k++)
        if (strcmp(name, unit_words[k].name) == 0)
            first = &unit_words[k];
    for (size_t k = 0; !first && k < unit_nword; k++) /* nanometer, Nanometers */
        if (unit_words[k].constant && is_constant(name, unit_words[k].constant))
            first = &unit_words[k];
    for (size_t k = 0; !first && k < unit_ndata_word; k++)
        if (unit_data_words[k].constant && is_constant(name, unit_data_words[k].constant))
            first = &unit_data_words[k];
    return first;
}

/* The word that a spelling stands for; its power may change sign. */
static const struct unit_word *find_word(const struct reader *r, const char *name, int *power)
{
    const char *rest = unit_behind_micro(name);
    char plain[32];
    if (rest && strlen(rest) + 2 <= sizeof plain) {
        snprintf(plain, sizeof plain, "u%s", rest);
        name = plain;
    }
    const struct unit_word *word = known_word(r, name);
    const struct unit_synonym *const list[] = {unit_data_synonyms, unit_synonyms};
    const size_t n[] = {unit_ndata_synonym, unit_nsynonym};
    for (size_t l = 0; l < 2; l++)
        for (size_t k = 0; !word && k < n[l]; k++)
            if (list[l][k].same &&
                (strcmp(name, list[l][k].name) == 0 || (strlen(name) >= 5 && strcasecmp(name, list[l][k].name) == 0))) {
                word = known_word(r, list[l][k].same);
                *power *= list[l][k].exponent;
            }
    return word;
}

/* 1 when the unit `text` has this word. */
static int has_word(const char *text, const char *name)
{
    for (const char *t = text; t && *t;) {
        const size_t n = word_length(t);
        if (n == strlen(name) && strncmp(t, name, n) == 0)
            return 1;
        t += n ? n : 1;
    }
    return 0;
}

/* Multiplies by a word that the model declares; 0 when there are too many. */
static int times_own(struct fit_unit *u, const char *name, int power)
{
    int k = 0;
    while (k < FIT_UNIT_OWN && *u->own[k].name && strcmp(u->own[k].name, name) < 0)
        k++;
    if (k == FIT_UNIT_OWN || (strcmp(u->own[k].name, name) != 0 && *u->own[FIT_UNIT_OWN - 1].name))
        return 0;
    if (strcmp(u->own[k].name, name) != 0) {
        memmove(&u->own[k + 1], &u->own[k], (size_t)(FIT_UNIT_OWN - 1 - k) * sizeof u->own[k]);
        memset(&u->own[k], 0, sizeof u->own[k]);
        snprintf(u->own[k].name, sizeof u->own[k].name, "%s", name);
    }
    u->own[k].power += power;
    return 1;
}

static int times_word(struct reader *r, const char *name, int power)
{
    const struct unit_word *word = find_word(r, name, &power);
    struct fit_unit *u = &r->unit;
    if (!word)
        return r->own && has_word(r->own, name) && times_own(u, name, power);
    u->mantissa *= pow(word->mantissa, (double)power / FIT_UNIT_ROOT);
    u->decade += word->decade * (double)power / FIT_UNIT_ROOT;
    for (int b = 0; b < UNIT_BASES; b++)
        u->power[b] += word->power[b] * power;
    return 1;
}

/* ---- units ----------------------------------------------------------------------------------- */

static const char *read_product(struct reader *r, const char *t, int sign);

/* Reads one factor; returns what follows it, or NULL. */
static const char *read_factor(struct reader *r, const char *t, int sign)
{
    char name[WORD];
    int power;
    if (++r->terms > TERMS)
        return NULL;
    if (*t == '(' && r->depth < DEPTH) {
        r->depth++;
        t = read_product(r, t + 1, sign);
        r->depth--;
        return t && *t == ')' ? t + 1 : NULL;
    }
    if (*t == '1' && !isdigit((unsigned char)t[1]) && t[1] != '.')
        return t + 1;
    const size_t n = word_length(t);
    if (!n || n >= sizeof name)
        return NULL;
    memcpy(name, t, n);
    name[n] = 0;
    const ptrdiff_t used = read_power(t + n, &power);
    return used >= 0 && times_word(r, name, sign * power) ? t + n + used : NULL;
}

/* Reads factors up to the end of the text or a closing parenthesis; returns that position, or NULL. */
static const char *read_product(struct reader *r, const char *t, int sign)
{
    int now = sign;
    t = skip_blank(t);
    for (;;) {
        if (!(t = read_factor(r, t, now)))
            return NULL;
        t = skip_blank(t);
        if (!*t || *t == ')')
            return t;
        now = *t == '/' ? -sign : sign;
        if (*t == '*' || *t == '/' || *t == '.')
            t++;
        else if (starts(t, "·"))
            t += strlen("·");
        t = skip_blank(t);
    }
}

static int read_unit(const char *text, const char *own, int second, struct fit_unit *unit)
{
    struct reader r = {.unit = {.mantissa = 1}, .own = own, .second = second};
    const char *t = skip_blank(text);
    size_t n = strlen(t);
    while (n && isspace((unsigned char)t[n - 1]))
        n--;
    for (size_t k = 0; k < unit_ndata_word; k++) /* texts that are not words: "a.u.", "arb. units" */
        if (n == strlen(unit_data_words[k].name) && strncasecmp(t, unit_data_words[k].name, n) == 0 &&
            strpbrk(unit_data_words[k].name, ". "))
            n = 0;
    if (n) {
        char copy[100];
        if (n >= sizeof copy)
            return 0;
        memcpy(copy, t, n);
        copy[n] = 0;
        const char *end = read_product(&r, copy, 1);
        if (!end || *end)
            return 0;
    }
    *unit = r.unit;
    return 1;
}

int fit_unit_parse(const char *text, struct fit_unit *unit)
{
    return read_unit(text, NULL, 0, unit);
}

/* Same dimensions. */
static int compatible(const struct fit_unit *a, const struct fit_unit *b)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (a->power[i] != b->power[i])
            return 0;
    for (int i = 0; i < FIT_UNIT_OWN; i++)
        if (strcmp(a->own[i].name, b->own[i].name) != 0 || a->own[i].power != b->own[i].power)
            return 0;
    return 1;
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* Converts an angle to a number, in radians, where a number is expected. */
static int convertible(struct fit_unit have, const struct fit_unit *want)
{
    if (want->power[UNIT_ANGLE] == 0)
        have.power[UNIT_ANGLE] = 0;
    return compatible(&have, want);
}

static struct fit_unit_factor factor_between(const struct fit_unit *have, const struct fit_unit *want)
{
    struct fit_unit_factor f = {have->mantissa, want->mantissa};
    const double decade = have->decade - want->decade;
    if (fabs(f.times - f.over) <= 1e-15 * f.over)
        f = (struct fit_unit_factor){1, 1};
    if (decade > 0)
        f.times *= pow(10, decade);
    else
        f.over *= pow(10, -decade);
    return f;
}

enum fit_quantity fit_unit_between(const char *from, const char *to, struct fit_unit_factor *factor)
{
    struct fit_unit have, want;
    *factor = (struct fit_unit_factor){1, 1};
    if (!read_unit(to, to, 0, &want) || !read_unit(from, to, 0, &have))
        return FIT_QUANTITY_NO_UNIT;
    if (!convertible(have, &want))
        read_unit(from, to, 1, &have);
    if (!convertible(have, &want))
        return FIT_QUANTITY_OTHER_KIND;
    *factor = factor_between(&have, &want);
    return FIT_QUANTITY_CONVERTED;
}

int fit_unit_same(struct fit_unit_factor f)
{
    return fabs(f.times / f.over - 1) <= 1e-12;
}

/* ---- numbers --------------------------------------------------------------------------------- */

int fit_number_parse(const char *text, double *value)
{
    const char *t = skip_blank(text);
    const size_t n = number_prefix(t, value);
    return n && !*skip_blank(t + n);
}

enum fit_quantity fit_quantity_parse(const char *text, const char *expect, double *value)
{
    double number;
    struct fit_unit_factor factor;
    const char *t = skip_blank(text);
    const size_t n = number_prefix(t, &number);
    if (!n)
        return FIT_QUANTITY_NO_NUMBER;
    t = skip_blank(t + n);
    if (!*t) {
        *value = number;
        return FIT_QUANTITY_BARE;
    }
    struct fit_unit have;
    enum fit_quantity kind = expect                     ? fit_unit_between(t, expect, &factor)
                             : fit_unit_parse(t, &have) ? FIT_QUANTITY_OTHER_KIND
                                                        : FIT_QUANTITY_NO_UNIT;
    if (kind == FIT_QUANTITY_CONVERTED)
        *value = fit_unit_apply(factor, number);
    return kind;
}

const char *fit_quantity_why(enum fit_quantity kind)
{
    return kind == FIT_QUANTITY_NO_UNIT ? "is not a known unit" : "is another kind of unit";
}

/* ---- quantities of a measurement --------------------------------------------------------------- */

const char *fit_units_of(const char *name)
{
    for (size_t k = 0; k < unit_ntold; k++)
        if (strcmp(name, unit_told[k].name) == 0)
            return unit_told[k].unit;
    return NULL;
}

int fit_units_means(const char *name, const char *declared)
{
    return !isnan(fit_units_to_model(name, declared, 1));
}

double fit_units_to_model(const char *name, const char *declared, double value)
{
    const char *unit = fit_units_of(name);
    struct fit_unit_factor f;
    if (!unit || fit_unit_between(unit, declared, &f) != FIT_QUANTITY_CONVERTED)
        return NAN;
    return fit_unit_apply(f, value);
}

double fit_units_from_model(const char *name, const char *declared, double value)
{
    const char *unit = fit_units_of(name);
    struct fit_unit_factor f;
    if (!unit || fit_unit_between(unit, declared, &f) != FIT_QUANTITY_CONVERTED)
        return NAN;
    return value * f.over / f.times;
}

double fit_units_turn(const char *declared)
{
    const double turn = fit_units_to_model("phi", declared, 360);
    return isnan(turn) ? 360 : turn;
}

const char *fit_units_doubt_q(double q)
{
    return q > 1e4   ? "a wavevector above 1e4 1/angstrom looks like m^-1; write the unit, e.g. '5.4e7 m^-1'"
           : q > 0.5 ? "a wavevector above 0.5 1/angstrom looks like nm^-1; write the unit, e.g. '0.054 nm^-1'"
                     : NULL;
}

const char *fit_units_doubt_gap(double gap)
{
    return gap < 1e4   ? "a gap below 10000 angstrom (1 um) looks like um or mm; write the unit, e.g. '200 um'"
           : gap > 1e8 ? "a gap above 1e8 angstrom (1 cm) is wider than those of shear cells; write it as '200 um'"
                       : NULL;
}
