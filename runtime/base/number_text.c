/* number_text.c -- a value and its error as text; see number_text.h. */
#include "base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "-0.00" -> "0.00" */
static void without_minus_zero(char *text)
{
    if (*text == '-' && !text[strspn(text, "-0.")])
        memmove(text, text + 1, strlen(text));
}

void fit_format_error(double value, double std, char *v, size_t nv, char *e, size_t ne)
{
    *e = '\0';
    if (!(std > 0) || !isfinite(std) || !isfinite(value)) {
        snprintf(v, nv, "%.6g", value);
        return;
    }
    int exponent = (int)floor(log10(std)),
        size = value != 0 ? (int)floor(log10(fabs(value))) : exponent;
    int decimals = 1 - exponent;
    if (size > exponent + 12) /* an error below the last digit worth showing */
        decimals = 12 - size;
    if (size >= 7 || exponent >= 7 ||
        size < -5) { /* 1.234e-07: digits up to the second one of the error */
        int digits = size - exponent + 1;
        snprintf(v, nv, "%.*e", digits < 1 ? 1 : digits > 14 ? 14 : digits, value);
        snprintf(e, ne, "%.1e", std);
        return;
    }
    snprintf(v, nv, "%.*f", decimals < 0 ? 0 : decimals, value);
    snprintf(e, ne, "%.*f", decimals < 0 ? 0 : decimals, std);
    without_minus_zero(v);
}

void fit_format_unsure(double value, double lower, double upper, char *v, size_t nv)
{
    char none[40];
    const double way = (upper - lower) / 4, size = fabs(value);
    if (isfinite(value) && way > 0 && isfinite(way) && way < size) {
        fit_format_error(value, way, v, nv, none, sizeof none);
    } else if (size >= 100 && size < 1e7) {
        const double unit = pow(10, floor(log10(size)) - 1);
        snprintf(v, nv, "%.0f", round(value / unit) * unit);
    } else {
        snprintf(v, nv, "%.2g", value);
    }
}

int fit_put_wrapped(FILE *f, const char *text, size_t width, int indent, int most)
{
    int lines = 0;
    while (*text && lines < most) {
        const int blank = lines++ ? indent : 0;
        size_t n = strlen(text), room = width - (size_t)blank;
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ')
                n--;
            n = n ? n : room;
        }
        size_t shown = n;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        fprintf(f, "%*s%.*s\n", blank, "", (int)shown, text);
        text += n;
        text += strspn(text, " ");
    }
    return lines;
}

char *fit_text_end(FILE *f, char **text)
{
    if (fclose(f) == 0)
        return *text;
    free(*text);
    return NULL;
}
