/* units.c -- numbers with units in configurations.
 *
 * A unit is read as a product of names with integer powers; superscript digits and the two
 * characters that Unicode has for the angstrom and the micro sign are understood.  Decimal points
 * are points in any locale. */
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES_PER_RADIAN 57.295779513082320877

static const struct name {
    const char *text;
    struct fit_unit unit;
} names[] = {
    {"angstrom", {1, 1, 0, 0}},
    {"angstroms", {1, 1, 0, 0}},
    {"Angstrom", {1, 1, 0, 0}},
    {"Å", {1, 1, 0, 0}},            /* U+00C5 */
    {"\xE2\x84\xAB", {1, 1, 0, 0}}, /* U+212B, the angstrom sign */
    {"A", {1, 1, 0, 0}},
    {"pm", {0.01, 1, 0, 0}},
    {"nm", {10, 1, 0, 0}},
    {"um", {1e4, 1, 0, 0}},
    {"µm", {1e4, 1, 0, 0}},        /* U+00B5 */
    {"\xCE\xBCm", {1e4, 1, 0, 0}}, /* U+03BC, the Greek letter */
    {"micron", {1e4, 1, 0, 0}},
    {"microns", {1e4, 1, 0, 0}},
    {"mm", {1e7, 1, 0, 0}},
    {"cm", {1e8, 1, 0, 0}},
    {"m", {1e10, 1, 0, 0}},
    {"s", {1, 0, 1, 0}},
    {"sec", {1, 0, 1, 0}},
    {"second", {1, 0, 1, 0}},
    {"seconds", {1, 0, 1, 0}},
    {"ms", {1e-3, 0, 1, 0}},
    {"us", {1e-6, 0, 1, 0}},
    {"µs", {1e-6, 0, 1, 0}},
    {"\xCE\xBCs", {1e-6, 0, 1, 0}},
    {"ns", {1e-9, 0, 1, 0}},
    {"min", {60, 0, 1, 0}},
    {"h", {3600, 0, 1, 0}},
    {"Hz", {1, 0, -1, 0}},
    {"kHz", {1e3, 0, -1, 0}},
    {"MHz", {1e6, 0, -1, 0}},
    {"deg", {1, 0, 0, 1}},
    {"degree", {1, 0, 0, 1}},
    {"degrees", {1, 0, 0, 1}},
    {"°", {1, 0, 0, 1}},
    {"rad", {DEGREES_PER_RADIAN, 0, 0, 1}},
    {"mrad", {DEGREES_PER_RADIAN * 1e-3, 0, 0, 1}},
    {"dimensionless", {1, 0, 0, 0}},
    {"1", {1, 0, 0, 0}},
    {"%", {0.01, 0, 0, 0}},
};

static const char *const superscript[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A power after a name: "^-2", "**2", "⁻¹", "²", or nothing (1).  Returns the characters used, -1
 * on error. */
static ptrdiff_t read_power(const char *text, int *power)
{
    const char *t = text;
    int sign = 1, digits = 0, value = 0;
    if (*t == '^' || starts(t, "**")) {
        t += *t == '^' ? 1 : 2;
        if (*t == '-' || *t == '+')
            sign = *t++ == '-' ? -1 : 1;
        for (; *t >= '0' && *t <= '9' && digits < 2; digits++)
            value = 10 * value + (*t++ - '0');
        *power = sign * value;
        return digits ? t - text : -1;
    }
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
    *power = digits ? sign * value : 1;
    return sign < 0 && !digits ? -1 : t - text;
}

/* The longest name at the beginning of text; a name of letters must not go on in letters. */
static const struct name *read_name(const char *text)
{
    const struct name *best = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts(text, names[i].text) && (!best || strlen(names[i].text) > strlen(best->text)))
            best = &names[i];
    if (!best)
        return NULL;
    const char c = text[strlen(best->text)];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
               ? NULL
               : best;
}

static void multiply(struct fit_unit *u, struct fit_unit by, int power)
{
    u->scale *= pow(by.scale, power);
    u->length += power * by.length;
    u->time += power * by.time;
    u->angle += power * by.angle;
}

/* Skips blanks and product signs. */
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

int fit_unit_parse(const char *text, struct fit_unit *unit)
{
    struct fit_unit u = {1, 0, 0, 0};
    const char *t = skip_blank(text);
    int divide = 0;
    if (!*t) {
        *unit = u;
        return 1;
    }
    for (int terms = 0; terms < 8; terms++) {
        const struct name *name = read_name(t);
        if (!name)
            return 0;
        int power;
        t += strlen(name->text);
        const ptrdiff_t used = read_power(t, &power);
        if (used < 0)
            return 0;
        multiply(&u, name->unit, divide ? -power : power);
        t = skip_blank(t + used);
        if (!*t) {
            *unit = u;
            return 1;
        }
        divide = *t == '/';
        if (*t == '*' || *t == '/')
            t++;
        else if (starts(t, "·"))
            t += strlen("·");
        t = skip_blank(t);
    }
    return 0;
}

int fit_unit_compatible(struct fit_unit a, struct fit_unit b)
{
    return a.length == b.length && a.time == b.time && a.angle == b.angle;
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

size_t fit_number_prefix(const char *text, double *value)
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

int fit_number_parse(const char *text, double *value)
{
    const char *t = skip_blank(text);
    const size_t n = fit_number_prefix(t, value);
    return n && !*skip_blank(t + n);
}

enum fit_quantity fit_quantity_parse(const char *text, const char *expect, double *value)
{
    struct fit_unit want, have;
    double number;
    const char *t = skip_blank(text);
    const size_t n = fit_number_prefix(t, &number);
    if (!n)
        return FIT_QUANTITY_NO_NUMBER;
    t = skip_blank(t + n);
    if (!*t) {
        *value = number;
        return FIT_QUANTITY_BARE;
    }
    if (!fit_unit_parse(t, &have))
        return FIT_QUANTITY_NO_UNIT;
    if (!expect || !fit_unit_parse(expect, &want) || !fit_unit_compatible(want, have))
        return FIT_QUANTITY_OTHER_KIND;
    /* Scales are mostly powers of ten: divide by the inverse where that one is exact. */
    const double factor = have.scale / want.scale;
    *value = factor < 1 ? number / (want.scale / have.scale) : number * factor;
    return FIT_QUANTITY_CONVERTED;
}

const char *fit_units_doubt_q(double q)
{
    return q > 0.5 ? "a wavevector above 0.5 1/angstrom looks like nm^-1; write the unit, e.g. "
                     "'0.054 nm^-1'"
                   : NULL;
}

const char *fit_units_doubt_gap(double gap)
{
    return gap < 1e4   ? "a gap below 10000 angstrom (1 um) looks like um or mm; write the unit, e.g. '200 um'"
           : gap > 1e8 ? "a gap above 1e8 angstrom (1 cm) is wider than those of shear cells; write it as '200 um'"
                       : NULL;
}
