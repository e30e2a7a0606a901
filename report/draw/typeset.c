/* typeset.c -- numbers as a printed page has them; see typeset.h. */
#include "report/draw/typeset.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rp_superscript(int k, char *text, size_t size)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    text[0] = '\0';
    snprintf(plain, sizeof plain, "%d", k);
    for (const char *p = plain; *p && strlen(text) + 4 < size; p++)
        strcat(text, *p == '-' ? "⁻" : digit[*p - '0']);
}

void rp_minus(char *text, size_t size)
{
    char rest[64];
    if (text[0] != '-')
        return;
    snprintf(rest, sizeof rest, "%s", text + 1);
    snprintf(text, size, "−%s", rest);
}

void rp_count(double x, char *text, size_t size)
{
    char digit[32];
    size_t n = 0;
    snprintf(digit, sizeof digit, "%.0f", x);
    for (size_t k = 0, left = strlen(digit); left && n + 4 < size; k++, left--) {
        if (k && left % 3 == 0)
            n += (size_t)snprintf(text + n, size - n, "\u2009");
        text[n++] = digit[k];
    }
    text[n] = '\0';
}

static int in_word(const char *plain, const char *at)
{
    return at > plain && (isalnum((unsigned char)at[-1]) || strchr("_-.)]", at[-1]));
}

/* Length of the number at `at`, up to its exponent; *exponent: behind the e, or NULL. */
static size_t number_length(const char *at, const char **exponent)
{
    const size_t n = strspn(at, "0123456789.");
    const char *e = at + n;
    *exponent = n && *e == 'e' && strchr("+-", e[1]) && isdigit((unsigned char)e[2]) ? e + 1 : NULL;
    return n;
}

/* The item at *at, a number or a character; *at moves to its end. */
static void put_one(const char *plain, const char **at, char *to, size_t size)
{
    const char *p = *at, *exponent;
    if (*p == '-' && (isdigit((unsigned char)p[1]) || p[1] == '.') && !in_word(plain, p)) {
        snprintf(to, size, "−");
        *at = p + 1;
        return;
    }
    const int begins = !in_word(plain, p) || p[-1] == '-';
    const size_t n = begins ? number_length(p, &exponent) : 0;
    if (!n) {
        snprintf(to, size, "%c", *p);
        *at = p + 1;
        return;
    }
    char power[48] = "", *end = (char *)p + n;
    if (exponent)
        rp_superscript((int)strtol(exponent, &end, 10), power, sizeof power);
    if (exponent && n == 1 && *p == '1')
        snprintf(to, size, "10%s", power);
    else
        snprintf(to, size, "%.*s%s%s", (int)n, p, exponent ? "×10" : "", power);
    *at = end;
}

void rp_typeset(const char *plain, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = plain; *at && used + 1 < size;) {
        char one[120];
        put_one(plain, &at, one, sizeof one);
        if (used + strlen(one) + 1 > size)
            return;
        memcpy(text + used, one, strlen(one) + 1);
        used += strlen(one);
    }
}
