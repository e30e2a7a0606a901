/* type.c -- types and extents of HDF5 datasets and attributes, and conversion of their values to doubles. See object.h;
 * specification IV.A.2.b (dataspace), IV.A.2.d (datatype).
 *
 * Numbers are integers of 1 to 8 bytes, signed or not, and IEEE 754 floating point of 2, 4 and 8 bytes, in either byte
 * order; others (long double, bfloat16, VAX) are recognised for libhdf5.
 */
#include "hdf5/object.h"

#include <math.h>
#include <string.h>

/* More elements than any list in a data file: distinguishes a damaged extent from a large one. */
#define MOST_ELEMENTS ((uint64_t)1 << 34)
#define MOST_SIZE ((size_t)1 << 24)

/* ---- types ----------------------------------------------------------------------------------- */

/* Decodes class, version and the 24 bits of flags of a type. */
static void read_class(struct fit_h5_cursor *c, unsigned class, unsigned flags,
                       struct fit_h5_datatype *t)
{
    enum { FIXED_POINT, FLOATING_POINT, STRING = 3, VARIABLE = 9 };
    enum { IMPLIED = 2, NULL_PADDED = 1, SPACE_PADDED = 2, IS_STRING = 1 };
    t->big_endian = flags & 1;
    if (class == FIXED_POINT) {
        t->is_signed = flags >> 3 & 1;
        t->offset = (unsigned)fit_h5_take(c, 2);
        t->precision = (unsigned)fit_h5_take(c, 2);
        t->class = t->size <= 8 && t->precision && t->offset + t->precision <= 8 * t->size ? FIT_H5_INTEGER
                                                                                           : FIT_H5_ODD_NUMBER;
    } else if (class == FLOATING_POINT) {
        static const struct { /* IEEE 754 */
            unsigned size, exponent, wide, bias;
        } known[] = {{2, 10, 5, 15}, {4, 23, 8, 127}, {8, 52, 11, 1023}};
        unsigned offset = (unsigned)fit_h5_take(c, 2), precision = (unsigned)fit_h5_take(c, 2);
        unsigned exponent = (unsigned)fit_h5_take(c, 1), wide = (unsigned)fit_h5_take(c, 1);
        unsigned mantissa = (unsigned)fit_h5_take(c, 1), digits = (unsigned)fit_h5_take(c, 1);
        unsigned bias = (unsigned)fit_h5_take(c, 4);
        t->class = FIT_H5_ODD_NUMBER;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (t->size == known[k].size && !offset && precision == 8 * known[k].size &&
                exponent == known[k].exponent && wide == known[k].wide && !mantissa &&
                digits == exponent && bias == known[k].bias && (flags >> 4 & 3) == IMPLIED &&
                (flags >> 8 & 0xff) == precision - 1 && !(flags & 0x40))
                t->class = FIT_H5_FLOAT;
    } else if (class == STRING) {
        t->class = FIT_H5_FIXED_TEXT;
        t->spaces = (flags & 15) == SPACE_PADDED;
    } else if (class == VARIABLE && (flags & 15) == IS_STRING) {
        t->class = FIT_H5_LONG_TEXT;
    }
}

static enum fit_status read_type(const struct fit_h5_bytes *f, const unsigned char *body, size_t n,
                                 struct fit_h5_datatype *t, struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(body, n);
    unsigned class = (unsigned)fit_h5_take(&c, 1) & 15, flags = (unsigned)fit_h5_take(&c, 3);
    *t = (struct fit_h5_datatype){.class = FIT_H5_ODD, .size = (size_t)fit_h5_take(&c, 4)};
    read_class(&c, class, flags, t);
    if (t->class == FIT_H5_LONG_TEXT && t->size != 8 + (size_t)f->wide)
        c.bad = 1;
    if (c.bad || !t->size || t->size > MOST_SIZE)
        return fit_fail(err, FIT_ERR_DATA, "%s: a type of numbers or texts is damaged", f->name);
    return FIT_OK;
}

enum fit_status fit_h5_type_read(struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                 struct fit_h5_datatype *t, struct fit_error *err)
{
    return m->shared ? fit_h5_damaged(f, "a shared type", 0, err) : read_type(f, m->body, m->n, t, err);
}

int fit_h5_is_number(const struct fit_h5_datatype *t)
{
    return t->class == FIT_H5_INTEGER || t->class == FIT_H5_FLOAT;
}

/* ---- extents --------------------------------------------------------------------------------- */

enum fit_status fit_h5_space_read(struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                  struct fit_h5_space *s, struct fit_error *err)
{
    enum { SCALAR, SIMPLE, EMPTY };
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    unsigned version = (unsigned)fit_h5_take(&c, 1), kind = SIMPLE;
    *s = (struct fit_h5_space){.n = 1};
    s->rank = (int)fit_h5_take(&c, 1);
    unsigned flags = (unsigned)fit_h5_take(&c, 1);
    if (version == 1)
        fit_h5_skip(&c, 5);
    else
        kind = (unsigned)fit_h5_take(&c, 1);
    if (m->shared)
        return fit_h5_damaged(f, "a shared extent", 0, err);
    if (version > 2)
        return fit_h5_refuse(err, "extent of version %u", version);
    if (s->rank > FIT_H5_RANK)
        return fit_h5_refuse(err, "%d dimensions", s->rank);
    int good = version >= 1;
    for (int i = 0; i < FIT_H5_RANK; i++)
        s->dims[i] = s->most[i] = 1;
    for (int i = 0; good && i < s->rank; i++) {
        uint64_t n = fit_h5_take_size(f, &c);
        good = n <= MOST_ELEMENTS && (!s->n || !n || s->n <= MOST_ELEMENTS / n);
        s->dims[i] = (size_t)n;
        s->n = good ? s->n * (size_t)n : 0;
        s->most[i] = n;
    }
    for (int i = 0; good && flags & 1 && i < s->rank; i++)
        s->most[i] = fit_h5_take_size(f, &c);
    if (kind == EMPTY)
        s->n = 0;
    return good && !c.bad
               ? FIT_OK
               : fit_fail(err, FIT_ERR_DATA, "%s: damaged, or an impossible extent", f->name);
}

/* ---- values ---------------------------------------------------------------------------------- */

static int machine_is_big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

int fit_h5_is_native(const struct fit_h5_datatype *t)
{
    return t->class == FIT_H5_FLOAT && t->size >= 4 && t->big_endian == machine_is_big_endian();
}

static uint64_t bits_of(const struct fit_h5_datatype *t, const unsigned char *p)
{
    uint64_t v = 0;
    for (size_t k = 0; k < t->size; k++)
        v = v << 8 | p[t->big_endian ? k : t->size - 1 - k];
    return v;
}

/* IEEE 754 binary16. */
static double half(uint64_t bits)
{
    const double sign = bits >> 15 ? -1 : 1, mantissa = (double)(bits & 0x3ff);
    const int exponent = (int)(bits >> 10 & 31);
    if (exponent == 31)
        return mantissa > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

static double number(const struct fit_h5_datatype *t, const unsigned char *p)
{
    uint64_t bits = bits_of(t, p);
    if (t->class == FIT_H5_INTEGER) {
        const uint64_t top = UINT64_C(1) << (t->precision - 1);
        bits = bits >> t->offset & (top | (top - 1));
        return t->is_signed && bits & top ? -(double)((~bits & (top - 1)) + 1) : (double)bits;
    }
    if (t->size == 8) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (t->size == 4) {
        uint32_t narrow = (uint32_t)bits;
        float v;
        memcpy(&v, &narrow, sizeof v);
        return (double)v;
    }
    return half(bits);
}

/* Going forward, nothing is overwritten before it is read: double i ends at byte 8 i + 8 of n
 * doubles, element i + 1 begins (8 - size) (n - i - 1) bytes later. */
void fit_h5_convert(const struct fit_h5_datatype *t, const unsigned char *from, size_t n, double *to)
{
    enum { PIECE = 256 };
    float piece[PIECE];
    if (fit_h5_is_native(t) && t->size == 8) {
        memmove(to, from, n * sizeof *to);
        return;
    }
    if (fit_h5_is_native(t)) {
        for (size_t i = 0; i < n; i += PIECE) {
            size_t m = n - i < PIECE ? n - i : PIECE;
            memcpy(piece, from + i * sizeof *piece, m * sizeof *piece);
            for (size_t k = 0; k < m; k++)
                to[i + k] = (double)piece[k];
        }
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = number(t, from + i * t->size);
}
