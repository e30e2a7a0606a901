/* units.c -- units of measurement as sorted lists of (word, rational exponent), each list kept
 * once. */
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

enum { MAX_FACTORS = 12, MAX_EXPONENT = 1000, MAX_DENOMINATOR = 12 };

/* Words.  kind and size serve messages and convert() only: units of the same kinds differ by a
 * number. */
static const struct word {
    const char *name, *constant; /* as in "1/s"; as a name in model files (NULL: none) */
    const char *kind;
    double size;
} known[] = {
    {"angstrom", "angstrom", "length", 1e-10},
    {"pm", "picometer", "length", 1e-12},
    {"nm", "nanometer", "length", 1e-9},
    {"um", "micrometer", "length", 1e-6},
    {"mm", "millimeter", "length", 1e-3},
    {"cm", "centimeter", "length", 1e-2},
    {"m", "meter", "length", 1},
    {"fs", "femtosecond", "time", 1e-15},
    {"ps", "picosecond", "time", 1e-12},
    {"ns", "nanosecond", "time", 1e-9},
    {"us", "microsecond", "time", 1e-6},
    {"ms", "millisecond", "time", 1e-3},
    {"s", "second", "time", 1},
    {"min", "minute", "time", 60},
    {"h", "hour", "time", 3600},
    {"d", "day", "time", 86400},
    {"deg", "deg", "angle", 1},
    {"kg", "kilogram", "mass", 1},
    {"g", "gram", "mass", 1e-3},
    {"mg", "milligram", "mass", 1e-6},
    {"K", "kelvin", "temperature", 1},
    {"ampere", "ampere", "current", 1},
    {"mol", "mole", "amount", 1},
    {"N", "newton", "force", 1},
    {"Pa", "pascal", "pressure", 1},
    {"kPa", "kilopascal", "pressure", 1e3},
    {"MPa", "megapascal", "pressure", 1e6},
    {"bar", "bar", "pressure", 1e5},
    {"torr", "torr", "pressure", 101325.0 / 760},
    {"J", "joule", "energy", 1},
    {"kJ", "kilojoule", "energy", 1e3},
    {"eV", "electronvolt", "energy", 1.602176634e-19},
    {"keV", "kiloelectronvolt", "energy", 1.602176634e-16},
    {"W", "watt", "power", 1},
    {"V", "volt", "voltage", 1},
    {"C", "coulomb", "charge", 1},
    {"T", "tesla", "field", 1},
    {"count", "count", "count", 1},
    {"photon", "photon", "photon", 1},
    {"pixel", "pixel", "pixel", 1},
    {"percent", "percent", "percent", 1},
};
enum { NKNOWN = sizeof known / sizeof *known };

/* Other spellings; value "": dimensionless, "1/s": that. */
static const struct { const char *name, *same; int exponent;
} synonym[] = {
    {"\xC3\x85", "angstrom", 1},
    {"\xE2\x84\xAB", "angstrom", 1},
    {"Angstrom", "angstrom", 1},
    {"angstroms", "angstrom", 1},
    {"\xC2\xB5m", "um", 1},
    {"\xCE\xBCm", "um", 1},
    {"\xC2\xB5s", "us", 1},
    {"\xCE\xBCs", "us", 1},
    {"micron", "um", 1},
    {"sec", "s", 1},
    {"degree", "deg", 1},
    {"degrees", "deg", 1},
    {"\xC2\xB0", "deg", 1},
    {"Hz", "s", -1},
    {"rad", NULL, 1},
    {"counts", "count", 1},
    {"photons", "photon", 1},
    {"pixels", "pixel", 1},
};
enum { NSYNONYM = sizeof synonym / sizeof *synonym };

struct factor {
    uint32_t word;
    int num, den; /* reduced, den > 0, num != 0 */
};

struct unit {
    uint32_t n;
    struct factor f[MAX_FACTORS]; /* by word */
    const char *text;
};

struct hg_units {
    struct hg_arena *arena;
    const char **extra; /* words of the model: number NKNOWN + k */
    size_t nextra, extra_capacity;
    struct unit *unit;
    size_t nunit, unit_capacity;
};

static const char *word_name(const struct hg_units *u, uint32_t w)
{
    return w < NKNOWN ? known[w].name : u->extra[w - NKNOWN];
}

struct hg_units *hg_units_new(struct hg_arena *a)
{
    struct hg_units *u = hg_alloc(a, sizeof *u);
    u->arena = a;
    u->unit = hg_grow(a, NULL, 0, 16, sizeof *u->unit, &u->unit_capacity);
    u->nunit = HG_UNIT_UNKNOWN + 1;
    return u;
}

static int gcd(int a, int b)
{
    a = abs(a);
    while (b) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The number of a list of factors, found or new. */
static hg_unit intern(struct hg_units *u, const struct unit *x)
{
    if (x->n == 0)
        return HG_UNIT_ONE;
    for (size_t k = HG_UNIT_UNKNOWN + 1; k < u->nunit; k++) {
        const struct unit *y = &u->unit[k];
        uint32_t i = 0;
        if (y->n != x->n)
            continue;
        while (i < x->n && x->f[i].word == y->f[i].word && x->f[i].num == y->f[i].num &&
               x->f[i].den == y->f[i].den)
            i++;
        if (i == x->n)
            return (hg_unit)k;
    }
    u->unit =
        hg_grow(u->arena, u->unit, u->nunit, u->nunit + 1, sizeof *u->unit, &u->unit_capacity);
    u->unit[u->nunit] = *x;
    u->unit[u->nunit].text = NULL;
    return (hg_unit)u->nunit++;
}

/* x *= word^(num/den); 0 when the exponent or the list gets too long. */
static int times(struct unit *x, uint32_t word, int num, int den)
{
    uint32_t k = 0;
    while (k < x->n && x->f[k].word < word)
        k++;
    if (k == x->n || x->f[k].word != word) {
        if (x->n == MAX_FACTORS)
            return 0;
        memmove(&x->f[k + 1], &x->f[k], (x->n - k) * sizeof x->f[0]);
        x->f[k] = (struct factor){word, 0, 1};
        x->n++;
    }
    num = x->f[k].num * den + num * x->f[k].den;
    den = x->f[k].den * den;
    int g = gcd(num, den);
    num /= g;
    den /= g;
    if (num == 0) {
        x->n--;
        memmove(&x->f[k], &x->f[k + 1], (x->n - k) * sizeof x->f[0]);
        return 1;
    }
    x->f[k].num = num;
    x->f[k].den = den;
    return abs(num) <= MAX_EXPONENT && den <= MAX_DENOMINATOR;
}

static hg_unit combine(struct hg_units *u, hg_unit a, hg_unit b, int num, int den)
{
    if (a == HG_UNIT_UNKNOWN || b == HG_UNIT_UNKNOWN)
        return HG_UNIT_UNKNOWN;
    if (a == HG_UNIT_ANY || b == HG_UNIT_ANY)
        return HG_UNIT_ANY;
    if (b == HG_UNIT_ONE || b == HG_UNIT_BOOL)
        return a;
    struct unit x = {0};
    if (a != HG_UNIT_ONE && a != HG_UNIT_BOOL)
        x = u->unit[a];
    for (uint32_t k = 0; k < u->unit[b].n; k++) {
        const struct factor f = u->unit[b].f[k];
        if (!times(&x, f.word, f.num * num, f.den * den))
            return HG_UNIT_UNKNOWN;
    }
    return intern(u, &x);
}

hg_unit hg_unit_mul(struct hg_units *u, hg_unit a, hg_unit b)
{
    return combine(u, a, b, 1, 1);
}

hg_unit hg_unit_div(struct hg_units *u, hg_unit a, hg_unit b)
{
    return combine(u, a, b, -1, 1);
}

hg_unit hg_unit_pow(struct hg_units *u, hg_unit a, int num, int den)
{
    return num == 0 ? HG_UNIT_ONE : combine(u, HG_UNIT_ONE, a, num, den);
}

int hg_unit_pow_number(struct hg_units *u, hg_unit a, double exponent, hg_unit *unit)
{
    *unit = a;
    if (a == HG_UNIT_ONE || a == HG_UNIT_ANY || a == HG_UNIT_UNKNOWN)
        return 1;
    for (int den = 1; den <= MAX_DENOMINATOR; den++) {
        double num = exponent * den;
        if (fabs(num) > MAX_EXPONENT)
            return 0;
        if (fabs(num - round(num)) < 1e-9) {
            *unit = hg_unit_pow(u, a, (int)lround(num), den);
            return 1;
        }
    }
    return 0;
}

static char *append_factor(struct hg_arena *a, const char *text, const char *sign, const char *name,
                           int num, int den)
{
    if (den != 1)
        return hg_format(a, "%s%s%s^(%d/%d)", text, sign, name, num, den);
    if (num != 1)
        return hg_format(a, "%s%s%s^%d", text, sign, name, num);
    return hg_format(a, "%s%s%s", text, sign, name);
}

const char *hg_unit_text(struct hg_units *u, hg_unit unit)
{
    static const char *const special[] = {"1", "0", "true or false", "?"};
    if (unit <= HG_UNIT_UNKNOWN)
        return special[unit];
    struct unit *x = &u->unit[unit];
    if (x->text)
        return x->text;
    const char *text = "";
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->f[k].num > 0)
            text = append_factor(u->arena, text, *text ? "*" : "", word_name(u, x->f[k].word),
                                 x->f[k].num, x->f[k].den);
    }
    if (!*text)
        text = "1";
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->f[k].num < 0)
            text = append_factor(u->arena, text, "/", word_name(u, x->f[k].word), -x->f[k].num,
                                 x->f[k].den);
    }
    x->text = text;
    return text;
}

/* The number of a word; 0 and *why when there is none. */
static int find_word(struct hg_units *u, const char *name, uint32_t *word, const char **why)
{
    struct hg_nearest near = {.name = name};
    if (strcmp(name, "A") == 0) {
        *why = "the unit 'A' may be read in two ways; write angstrom or ampere";
        return 0;
    }
    for (uint32_t k = 0; k < NKNOWN + u->nextra; k++) {
        *word = k;
        if (strcmp(name, word_name(u, k)) == 0 || (k < NKNOWN && known[k].constant &&
                                                   strcmp(name, known[k].constant) == 0))
            return 1;
        hg_nearest_try(&near, word_name(u, k));
        if (k < NKNOWN)
            hg_nearest_try(&near, known[k].constant);
    }
    for (size_t k = 0; k < NSYNONYM; k++)
        hg_nearest_try(&near, synonym[k].name);
    *why = near.best ? hg_format(u->arena, "unknown unit '%s'; did you mean '%s'?", name, near.best)
                     : hg_format(u->arena, "unknown unit '%s'; a unit of your own is declared first:"
                                 " model \"...\" { units = {\"%s\"} }", name, name);
    return 0;
}

int hg_unit_declare(struct hg_units *u, const char *word, const char **why)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    *why = hg_format(u->arena, "'%s' is no word of letters", word);
    if (n == 0 || word[n])
        return 0;
    *why = hg_format(u->arena, "the unit '%s' is there already", word);
    for (uint32_t k = 0; k < NKNOWN + u->nextra; k++)
        if (strcmp(word, word_name(u, k)) == 0 ||
            (k < NKNOWN && known[k].constant && strcmp(word, known[k].constant) == 0))
            return 0;
    for (size_t k = 0; k < NSYNONYM; k++)
        if (strcmp(word, synonym[k].name) == 0)
            return 0;
    u->extra =
        hg_grow(u->arena, u->extra, u->nextra, u->nextra + 1, sizeof *u->extra, &u->extra_capacity);
    u->extra[u->nextra++] = word;
    return 1;
}

/* Multiplies x by one word of the text, synonyms resolved. */
static int times_word(struct hg_units *u, struct unit *x, const char *name, int num, int den,
                      const char **why)
{
    for (size_t k = 0; k < NSYNONYM; k++) {
        if (strcmp(name, synonym[k].name) != 0)
            continue;
        if (!synonym[k].same)
            return 1;
        name = synonym[k].same;
        num *= synonym[k].exponent;
        break;
    }
    uint32_t word;
    if (!find_word(u, name, &word, why))
        return 0;
    *why = "too many factors, or an exponent that is too large";
    return times(x, word, num, den);
}

static const char *skip_blank(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* An exponent after ^: 2, -1, 0.5, (1/2), (-3/2). */
static int read_exponent(const char **s, int *num, int *den)
{
    const char *p = skip_blank(*s);
    int bracket = *p == '(';
    char *end;
    p += bracket;
    double value = strtod(p, &end), below = 1;
    if (end == p)
        return 0;
    p = end;
    if (bracket) {
        p = skip_blank(p);
        if (*p == '/') {
            below = strtod(p + 1, &end);
            if (end == p + 1)
                return 0;
            p = skip_blank(end);
        }
        if (*p++ != ')')
            return 0;
    }
    for (*den = 1; *den <= MAX_DENOMINATOR; ++*den) {
        double n = value / below * *den;
        if (fabs(n) <= MAX_EXPONENT && fabs(n - round(n)) < 1e-9) {
            *num = (int)lround(n);
            *s = p;
            return *num != 0;
        }
    }
    return 0;
}

static int is_unit_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80);
}

/* One factor: a word with an exponent, or the number 1. */
static int read_factor(struct hg_units *u, const char **s, struct unit *x, int sign,
                       const char **why)
{
    const char *p = *s;
    size_t n = 0;
    int num = 1, den = 1;
    while (is_unit_letter(p[n]) || (n > 0 && isdigit((unsigned char)p[n])))
        n++;
    if (n == 0) {
        *why = "a unit looks like \"angstrom^2/s\", \"1/s\" or \"1\"";
        if (*p != '1' || isdigit((unsigned char)p[1]) || p[1] == '.')
            return 0;
        *s = p + 1;
        return 1;
    }
    const char *name = hg_format(u->arena, "%.*s", (int)n, p);
    p = skip_blank(p + n);
    if (*p == '^') {
        p++;
        if (!read_exponent(&p, &num, &den)) {
            *why = hg_format(u->arena, "the exponent of %s must be a number such as 2, -1 or (1/2)",
                             name);
            return 0;
        }
    }
    *s = p;
    return times_word(u, x, name, sign * num, den, why);
}

int hg_unit_parse(struct hg_units *u, const char *text, hg_unit *unit, const char **why)
{
    struct unit x = {0};
    const char *s = skip_blank(text);
    int sign = 1;
    *unit = HG_UNIT_ONE;
    while (*s) {
        if (!read_factor(u, &s, &x, sign, why))
            return 0;
        s = skip_blank(s);
        sign = *s == '/' ? -1 : 1;
        if (*s == '*' || *s == '.' || *s == '/') {
            s = skip_blank(s + 1);
            if (!*s) {
                *why = "a unit must not end with an operator";
                return 0;
            }
        }
    }
    *unit = intern(u, &x);
    return 1;
}

int hg_unit_factor(struct hg_units *u, hg_unit from, hg_unit to, double *factor)
{
    hg_unit ratio = hg_unit_div(u, from, to);
    *factor = 1;
    if (ratio == HG_UNIT_ONE)
        return 1;
    if (ratio <= HG_UNIT_UNKNOWN)
        return 0;
    const struct unit *x = &u->unit[ratio];
    for (uint32_t k = 0; k < x->n; k++) { /* the exponents of each kind must add up to nothing */
        double sum = 0;
        if (x->f[k].word >= NKNOWN)
            return 0;
        for (uint32_t j = 0; j < x->n; j++) {
            if (x->f[j].word < NKNOWN &&
                strcmp(known[x->f[j].word].kind, known[x->f[k].word].kind) == 0)
                sum += (double)x->f[j].num / x->f[j].den;
        }
        if (fabs(sum) > 1e-12)
            return 0;
        *factor *= pow(known[x->f[k].word].size, (double)x->f[k].num / x->f[k].den);
    }
    /* 1e-9/1e-10 is not quite 10: take the short number when it is one. */
    double exponent = round(log10(*factor)), ten = pow(10, exponent);
    if (fabs(*factor / ten - 1) < 1e-12)
        *factor = ten;
    return 1;
}

const char *hg_unit_constant(size_t k, const char **text)
{
    if (k >= NKNOWN)
        return NULL;
    *text = known[k].name;
    return known[k].constant;
}
