/* fits_table.c -- columns of binary tables (fits_table.h).
 *
 * A row is axis[0] bytes: the cells in the order of the columns, each `repeat` elements of the type of TFORMn. */
#include "observation/fits_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char type;
    unsigned char bytes; /* of an element; X: bits */
    signed char bitpix;  /* of numbers; 0: none */
} types[] = {{'A', 1, 0}, {'B', 1, 8}, {'I', 2, 16}, {'J', 4, 32}, {'K', 8, 64}, {'E', 4, -32}, {'D', 8, -64},
             {'L', 1, 0}, {'C', 8, 0}, {'M', 16, 0}, {'P', 8, 0},  {'Q', 16, 0}, {'X', 0, 0}};
enum { TYPES = sizeof types / sizeof *types };

/* "8A", "D", "3D": repeat count and type; the bytes of a cell, or SIZE_MAX for another form. */
static size_t cell_bytes(const char *form, struct fit_fits_column *c)
{
    char *end;
    unsigned long repeat = strtoul(form, &end, 10);
    c->repeat = end == form ? 1 : repeat;
    c->type = *end;
    if (c->repeat > 1u << 30)
        return SIZE_MAX;
    for (int k = 0; k < TYPES; k++)
        if (types[k].type == c->type)
            return c->type == 'X' ? (c->repeat + 7) / 8 : c->repeat * types[k].bytes;
    return SIZE_MAX;
}

int fit_fits_column(const struct fit_fits *f, const char *name, struct fit_fits_column *c)
{
    double fields = 0;
    size_t at = 0;
    if (!fit_fits_number(f, "TFIELDS", &fields))
        return 0;
    for (size_t k = 1; k <= 999 && (double)k <= fields; k++) {
        char form[FIT_FITS_WORD], type[FIT_FITS_WORD];
        fit_fits_text_of(f, "TFORM", k, form);
        fit_fits_text_of(f, "TTYPE", k, type);
        size_t bytes = cell_bytes(form, c);
        if (bytes > f->axis[0] || at > f->axis[0] - bytes)
            return 0;
        c->offset = at;
        if (!strcmp(type, name))
            return 1;
        at += bytes;
    }
    return 0;
}

double fit_fits_cell(const struct fit_fits_column *c, const unsigned char *row, size_t k, double otherwise)
{
    double x = otherwise;
    for (int t = 0; t < TYPES && k < c->repeat; t++)
        if (types[t].type == c->type && types[t].bitpix)
            fit_fits_decode(row + c->offset + k * types[t].bytes, types[t].bitpix, 1, &x);
    return x;
}

void fit_fits_cell_text(const struct fit_fits_column *c, const unsigned char *row, char text[FIT_FITS_WORD])
{
    size_t n = 0;
    for (; c->type == 'A' && n < c->repeat && n < FIT_FITS_WORD - 1 && row[c->offset + n]; n++)
        text[n] = (char)row[c->offset + n];
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
}
