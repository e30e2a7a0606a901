/* units.c -- units of measurement as sorted lists of (word, rational exponent), each list kept
 * once. */
#include "graph/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/unit_words.h"
#include "common/nearest.h"

enum { MAX_FACTORS = 12, MAX_EXPONENT = 1000, MAX_DENOMINATOR = 12 };

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
    const char **extra; /* words that the model declares: number unit_nword + k */
    size_t nextra, extra_capacity;
    struct unit *unit;
    size_t nunit, unit_capacity;
};

static const char *word_name(const struct hg_units *u, uint32_t w)
{
    return w < unit_nword ? unit_words[w].name : u->extra[w - unit_nword];
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

/* The number of a list of factors, existing or new. */
static hg_unit intern(struct hg_units *u, const struct unit *x)
{
    if (x->n == 0)
        return HG_UNIT_ONE;
    for (size_t k = HG_UNIT_UNKNOWN + 1; k < u->nunit; k++) {
        const struct unit *y = &u->unit[k];
        uint32_t i = 0;
        if (y->n != x->n)
            continue;
        while (i < x->n && x->f[i].word == y->f[i].word && x->f[i].num == y->f[i].num && x->f[i].den == y->f[i].den)
            i++;
        if (i == x->n)
            return (hg_unit)k;
    }
    u->unit = hg_grow(u->arena, u->unit, u->nunit, u->nunit + 1, sizeof *u->unit, &u->unit_capacity);
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

static char *append_factor(struct hg_arena *a, const char *text, const char *sign, const char *name, int num, int den)
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
            text =
                append_factor(u->arena, text, *text ? "*" : "", word_name(u, x->f[k].word), x->f[k].num, x->f[k].den);
    }
    if (!*text)
        text = "1";
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->f[k].num < 0)
            text = append_factor(u->arena, text, "/", word_name(u, x->f[k].word), -x->f[k].num, x->f[k].den);
    }
    x->text = text;
    return text;
}

/* Common words that are not units here: what to write instead. */
static const char *const missing[][2] = {
    {"celsius", "write degC, which is a unit of its own: a temperature in K is 273.15 more"},
    {"a", "arbitrary units are \"1\", or a word of your own: model \"...\" { units = {\"au\"} }"},
    {"au", "arbitrary units are \"1\", or a word of your own: model \"...\" { units = {\"au\"} }"},
    {"arb", "arbitrary units are \"1\", or a word of your own: model \"...\" { units = {\"au\"} }"},
};

/* Words that do not differ from others by a factor: temperatures with another zero, energies that depend on the
 * temperature, logarithms. Each has a dimension of its own, so that nothing converts them silently. */
static const char *const own[] = {"degC", "degF", "kT", "dB"};

/* Is a word close enough to another to be a typing error? The shorter the word, the less a difference of one letter
 * proves: kT is not T, cbs not ps, NM not nM. Accepted: words of five letters and more, differences of case in words
 * of three letters, and plurals. */
static int is_slip(const char *name, const char *other)
{
    const size_t n = strlen(other);
    return strlen(name) >= 5 ||
           (n >= 3 && (strcasecmp(name, other) == 0 || (strncmp(name, other, n) == 0 && strcmp(name + n, "s") == 0)));
}

/* "cm^3" for cm3, where cm is a word; NULL: not of this form. */
static const char *power_without_sign(const struct hg_units *u, const char *name)
{
    const size_t n = strcspn(name, "0123456789");
    if (n == 0 || !name[n] || strspn(name + n, "0123456789") != strlen(name + n))
        return NULL;
    for (uint32_t k = 0; k < unit_nword + u->nextra; k++)
        if (strlen(word_name(u, k)) == n && strncmp(word_name(u, k), name, n) == 0)
            return hg_format(u->arena, "%s^%s", word_name(u, k), name + n);
    return NULL;
}

/* The message for a word that is not a unit. near: the unit with the closest name, or NULL. */
static const char *cure(const struct hg_units *u, const char *name, const char *near)
{
    const char *power = power_without_sign(u, name);
    if (power)
        return hg_format(u->arena, "unknown unit '%s'; powers have a sign: %s", name, power);
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        if (strcasecmp(missing[k][0], name) == 0)
            return hg_format(u->arena, "unknown unit '%s'; %s", name, missing[k][1]);
    if (near && is_slip(name, near))
        return hg_format(u->arena, "unknown unit '%s'; did you mean '%s'?", name, near);
    return hg_format(u->arena,
                     "unknown unit '%s'; a unit of your own is declared first: model \"...\" { units = {\"%s\"} }",
                     name, name);
}

/* The number of a word; 0 and *why when there is none. */
static int find_word(struct hg_units *u, const char *name, uint32_t *word, const char **why)
{
    struct nearest near = {.name = name};
    if (strcmp(name, "A") == 0) {
        *why = "the unit 'A' may be read in two ways; write angstrom or ampere";
        return 0;
    }
    for (uint32_t k = 0; k < unit_nword + u->nextra; k++) {
        *word = k;
        if (strcmp(name, word_name(u, k)) == 0 ||
            (k < unit_nword && unit_words[k].constant && strcmp(name, unit_words[k].constant) == 0))
            return 1;
        nearest_offer(&near, word_name(u, k));
        if (k < unit_nword && unit_words[k].constant)
            nearest_offer(&near, unit_words[k].constant);
    }
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (strcmp(own[k], name) == 0) {
            *word = (uint32_t)(unit_nword + u->nextra);
            return hg_unit_declare(u, own[k], why);
        }
    for (size_t k = 0; k < unit_nsynonym; k++)
        nearest_offer(&near, unit_synonyms[k].name);
    *why = cure(u, name, near.best);
    return 0;
}

int hg_unit_declare(struct hg_units *u, const char *word, const char **why)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    *why = hg_format(u->arena, "'%s' is not a word of letters", word);
    if (n == 0 || word[n])
        return 0;
    *why = hg_format(u->arena, "the unit '%s' is there already", word);
    for (uint32_t k = 0; k < unit_nword + u->nextra; k++)
        if (strcmp(word, word_name(u, k)) == 0 ||
            (k < unit_nword && unit_words[k].constant && strcmp(word, unit_words[k].constant) == 0))
            return 0;
    for (size_t k = 0; k < unit_nsynonym; k++)
        if (strcmp(word, unit_synonyms[k].name) == 0)
            return 0;
    u->extra = hg_grow(u->arena, u->extra, u->nextra, u->nextra + 1, sizeof *u->extra, &u->extra_capacity);
    u->extra[u->nextra++] = word;
    return 1;
}

/* Multiplies x by one word of the text, synonyms resolved. */
static int times_word(struct hg_units *u, struct unit *x, const char *name, int num, int den, const char **why)
{
    const char *rest = unit_behind_micro(name);
    name = rest ? hg_format(u->arena, "u%s", rest) : name;
    for (size_t k = 0; k < unit_nsynonym; k++) {
        if (strcmp(name, unit_synonyms[k].name) != 0)
            continue;
        if (!unit_synonyms[k].same)
            return 1;
        name = unit_synonyms[k].same;
        num *= unit_synonyms[k].exponent;
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

static int read_product(struct hg_units *u, const char **s, struct unit *x, int sign, int depth, const char **why);

/* The message for text that is found where a word should be. */
static const char *no_word(const char *p)
{
    return *p == '-' || *p == '+' || isdigit((unsigned char)*p)
               ? "an exponent follows ^, as in \"cm^-1\"; numbers are no part of a unit"
               : "a unit looks like \"angstrom^2/s\", \"W/(m*K)\", \"1/s\" or \"1\"";
}

/* One factor: a word with an exponent, the number 1, or a product in parentheses. */
static int read_factor(struct hg_units *u, const char **s, struct unit *x, int sign, int depth, const char **why)
{
    const char *p = *s;
    size_t n = 0;
    int num = 1, den = 1;
    if (*p == '(' && depth < 4) {
        p++;
        if (!read_product(u, &p, x, sign, depth + 1, why))
            return 0;
        *s = p + 1;
        return 1;
    }
    while (is_unit_letter(p[n]) || (n > 0 && isdigit((unsigned char)p[n])))
        n++;
    if (n == 0) {
        *why = no_word(p);
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
            *why = hg_format(u->arena, "the exponent of %s must be a number such as 2, -1 or (1/2)", name);
            return 0;
        }
    }
    *s = p;
    return times_word(u, x, name, sign * num, den, why);
}

/* Factors up to the end of the text or, inside parentheses, up to the closing one. A division applies to the next
 * factor only. */
static int read_product(struct hg_units *u, const char **s, struct unit *x, int sign, int depth, const char **why)
{
    const char *p = skip_blank(*s);
    int now = sign;
    while (*p && !(depth && *p == ')')) {
        if (!read_factor(u, &p, x, now, depth, why))
            return 0;
        p = skip_blank(p);
        now = *p == '/' ? -sign : sign;
        if (*p == '*' || *p == '.' || *p == '/') {
            p = skip_blank(p + 1);
            if (!*p || *p == ')') {
                *why = "a unit must not end with an operator";
                return 0;
            }
        }
    }
    *why = "a parenthesis is not closed";
    *s = p;
    return !depth || *p == ')';
}

/* "nm^2*s^-1" for nm²·s⁻¹: superscript digits and the raised dot, in UTF-8. */
static const char *without_raised(struct hg_arena *a, const char *text)
{
    static const char *const raised[][2] = {
        {"\xC2\xB9", "1"},     {"\xC2\xB2", "2"},     {"\xC2\xB3", "3"},     {"\xE2\x81\xB0", "0"},
        {"\xE2\x81\xB4", "4"}, {"\xE2\x81\xB5", "5"}, {"\xE2\x81\xB6", "6"}, {"\xE2\x81\xB7", "7"},
        {"\xE2\x81\xB8", "8"}, {"\xE2\x81\xB9", "9"}, {"\xE2\x81\xBB", "-"}, {"\xC2\xB7", "*"},
    };
    char *out = hg_alloc(a, 2 * strlen(text) + 2), *p = out;
    for (int inside = 0; *text;) {
        size_t k = 0, n = sizeof raised / sizeof *raised;
        while (k < n && strncmp(text, raised[k][0], strlen(raised[k][0])) != 0)
            k++;
        const int digit = k < n && *raised[k][1] != '*';
        if (digit && !inside)
            *p++ = '^';
        *p++ = k < n ? *raised[k][1] : *text;
        text += k < n ? strlen(raised[k][0]) : 1;
        inside = digit;
    }
    *p = '\0';
    return out;
}

int hg_unit_parse(struct hg_units *u, const char *text, hg_unit *unit, const char **why)
{
    struct unit x = {0};
    text = without_raised(u->arena, text);
    *unit = HG_UNIT_ONE;
    if (!read_product(u, &text, &x, 1, 0, why))
        return 0;
    *unit = intern(u, &x);
    return 1;
}

/* Exponents of the base units; 0 when a word declared by the model is among the factors. */
static int dimension(const struct unit *x, double power[UNIT_BASES])
{
    memset(power, 0, UNIT_BASES * sizeof *power);
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->f[k].word >= unit_nword)
            return 0;
        for (int b = 0; b < UNIT_BASES; b++)
            power[b] += unit_words[x->f[k].word].power[b] * (double)x->f[k].num / x->f[k].den;
    }
    return 1;
}

int hg_unit_factor(struct hg_units *u, hg_unit from, hg_unit to, double *factor)
{
    hg_unit ratio = hg_unit_div(u, from, to);
    double power[UNIT_BASES];
    *factor = 1;
    if (ratio == HG_UNIT_ONE)
        return 1;
    if (ratio <= HG_UNIT_UNKNOWN || !dimension(&u->unit[ratio], power))
        return 0;
    for (int b = 0; b < UNIT_BASES; b++)
        if (b != UNIT_ANGLE && fabs(power[b]) > 1e-12)
            return 0;
    const struct unit *x = &u->unit[ratio];
    double decade = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        const double exponent = (double)x->f[k].num / x->f[k].den;
        *factor *= pow(unit_words[x->f[k].word].mantissa, exponent);
        decade += unit_words[x->f[k].word].decade * exponent;
    }
    *factor *= pow(10, decade);
    return 1;
}

/* 1 when base units would only change the sizes: the words are lengths, times, ..., one of each. */
static int is_basic(const struct unit *x)
{
    int seen[UNIT_BASES] = {0};
    for (uint32_t k = 0; k < x->n; k++) {
        int sum = 0, which = 0;
        for (int b = 0; b < UNIT_BASES && x->f[k].word < unit_nword; b++) {
            sum += abs(unit_words[x->f[k].word].power[b]);
            if (unit_words[x->f[k].word].power[b] == 1)
                which = b;
        }
        if (sum > 1 || seen[which]++)
            return 0;
    }
    return 1;
}

const char *hg_unit_base_text(struct hg_units *u, hg_unit unit)
{
    struct unit x = {0};
    double power[UNIT_BASES];
    if (unit <= HG_UNIT_UNKNOWN || is_basic(&u->unit[unit]) || !dimension(&u->unit[unit], power))
        return hg_unit_text(u, unit);
    for (int b = 0; b < UNIT_BASES; b++) {
        uint32_t word = 0;
        int den = 1;
        while (strcmp(unit_words[word].name, unit_base_name[b]) != 0)
            word++;
        while (den < MAX_DENOMINATOR && fabs(power[b] * den - round(power[b] * den)) > 1e-9)
            den++;
        if (power[b] != 0 && !times(&x, word, (int)lround(power[b] * den), den))
            return hg_unit_text(u, unit);
    }
    return hg_unit_text(u, intern(u, &x));
}

const char *hg_unit_constant(size_t k, const char **text)
{
    for (size_t n = 0; n < unit_nword; n++)
        if (unit_words[n].constant && k-- == 0) {
            *text = unit_words[n].name;
            return unit_words[n].constant;
        }
    return NULL;
}
