/* npy.c -- numpy's array format: the header and the elements; see npy.h. */
#include "files/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 24 }; /* bytes of a text element */

/* ---- header ---------------------------------------------------------------------------------- */

/* The text after 'key': in the header's dictionary, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *p = strstr(header, quoted);
    if (!p)
        return NULL;
    p += strlen(quoted);
    while (*p == ' ')
        p++;
    if (*p++ != ':')
        return NULL;
    while (*p == ' ')
        p++;
    return p;
}

/* '<f8', '|b1', '<U12', '|O' ... */
static int parse_type(const char *p, struct fit_npz_array *a)
{
    const uint16_t one = 1;
    int little_machine = *(const unsigned char *)&one == 1;
    a->kind = '?';
    if (!p)
        return 0;
    if (*p != '\'')
        return 1; /* a structured type: recognised, but not read */
    char order = p[1];
    if (order != '<' && order != '>' && order != '|' && order != '=')
        return 0;
    a->swapped = (order == '>' && little_machine) || (order == '<' && !little_machine);
    if (!strchr("fiubUSO", p[2]) || !p[2])
        return 1;
    char *end;
    unsigned long size = strtoul(p + 3, &end, 10);
    if (p[2] == 'O') {
        a->kind = 'O';
        return 1;
    }
    if (*end != '\'' || end == p + 3 || size > MOST_TEXT)
        return 0;
    a->item = size * (p[2] == 'U' ? 4 : 1);
    int number = strchr("fiub", p[2]) != NULL;
    if (number &&
        ((size != 1 && size != 2 && size != 4 && size != 8) || (p[2] == 'f' && size == 1)))
        return 1;
    a->kind = p[2];
    return 1;
}

static int parse_shape(const char *p, struct fit_npz_array *a)
{
    a->rank = 0;
    a->n = 1;
    for (int i = 0; i < FIT_NPZ_RANK; i++)
        a->dims[i] = 1;
    if (!p || *p++ != '(')
        return 0;
    for (;;) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == ')')
            return 1;
        char *end;
        if (*p < '0' || *p > '9' || a->rank == FIT_NPZ_RANK)
            return 0;
        unsigned long long d = strtoull(p, &end, 10);
        if (d > SIZE_MAX >> 8 || (d && a->n > (SIZE_MAX >> 8) / d))
            return 0;
        a->dims[a->rank++] = (size_t)d;
        a->n *= (size_t)d;
        p = *end == 'L' ? end + 1 : end;
    }
}

int fit_npy_header(const char *text, struct fit_npz_array *a)
{
    const char *order = value_of(text, "fortran_order");
    int ok = parse_type(value_of(text, "descr"), a) && parse_shape(value_of(text, "shape"), a) &&
             order;
    a->fortran = ok && strncmp(order, "True", 4) == 0;
    return ok;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double half_to_double(uint16_t h)
{
    int e = h >> 10 & 31;
    double m = h & 1023, v;
    uint64_t scale = (uint64_t)(1023 + (e ? e - 25 : -24)) << 52; /* 2^(e-25), or 2^-24 */
    memcpy(&v, &scale, sizeof v);
    v *= e ? m + 1024 : m;
    if (e == 31)
        v = (h & 1023) ? (double)(0.0f / 0.0f) : 1e308 * 10;
    return h & 0x8000 ? -v : v;
}

static double one_value(const unsigned char *p, const struct fit_npz_array *a)
{
    unsigned char b[8];
    for (size_t i = 0; i < a->item; i++)
        b[i] = a->swapped ? p[a->item - 1 - i] : p[i];
#define AS(type)                                                                                   \
    do {                                                                                           \
        type v;                                                                                    \
        memcpy(&v, b, sizeof v);                                                                   \
        return (double)v;                                                                          \
    } while (0)
    if (a->kind == 'f' && a->item == 8)
        AS(double);
    if (a->kind == 'f' && a->item == 4)
        AS(float);
    if (a->kind == 'f') {
        uint16_t h;
        memcpy(&h, b, 2);
        return a->item == 2 ? half_to_double(h) : 0;
    }
    const int is_signed = a->kind == 'i';
    if (a->item == 8 && is_signed)
        AS(int64_t);
    if (a->item == 8)
        AS(uint64_t);
    if (a->item == 4 && is_signed)
        AS(int32_t);
    if (a->item == 4)
        AS(uint32_t);
    if (a->item == 2 && is_signed)
        AS(int16_t);
    if (a->item == 2)
        AS(uint16_t);
    return is_signed ? (double)(int8_t)b[0] : b[0];
#undef AS
}

void fit_npy_doubles(const unsigned char *p, const struct fit_npz_array *a, size_t n, double *value)
{
    if (a->kind == 'f' && a->item == 8 && !a->swapped) {
        memcpy(value, p, n * sizeof *value);
    } else if (a->kind == 'f' && a->item == 4 && !a->swapped) {
        for (size_t i = 0; i < n; i++) {
            float v;
            memcpy(&v, p + 4 * i, sizeof v);
            value[i] = (double)v;
        }
    } else {
        for (size_t i = 0; i < n; i++)
            value[i] = one_value(p + i * a->item, a);
    }
}

/* One character as UTF-8; returns its length. */
static size_t put_utf8(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[4] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(lead[more] | (c >> 6 * more & (0x3fu >> more)));
    for (int i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
}

static size_t width_of(const struct fit_npz_array *a)
{
    return a->kind == 'U' ? 4 : 1;
}

size_t fit_npy_text_size(const struct fit_npz_array *a)
{
    return a->item / width_of(a) * 4 + 1;
}

void fit_npy_text(const unsigned char *p, const struct fit_npz_array *a, char *text)
{
    size_t wide = width_of(a), n = 0;
    for (size_t i = 0; i + wide <= a->item; i += wide) {
        uint32_t c = p[i];
        unsigned char b[4];
        for (size_t k = 0; wide == 4 && k < 4; k++)
            b[k] = p[a->swapped ? i + 3 - k : i + k];
        if (wide == 4)
            memcpy(&c, b, sizeof c);
        if (!c || c > 0x10ffff)
            break;
        n += put_utf8(c, text + n);
    }
    text[n] = 0;
}
