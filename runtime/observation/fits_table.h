/* fits_table.h -- columns of binary tables in FITS files (FITS Standard 4.0, section 7.3). */
#pragma once

#include "observation/fits.h"

struct fit_fits_column {
    size_t offset, repeat; /* bytes into a row; elements of a cell */
    char type;             /* A B I J K E D ... */
};

/* 1 when the table of this unit has a column of this name (TTYPEn). */
int fit_fits_column(const struct fit_fits *f, const char *name, struct fit_fits_column *c);

/* Element k of a cell of numbers, or `otherwise` when it does not exist. row: the bytes of the row. */
double fit_fits_cell(const struct fit_fits_column *c, const unsigned char *row, size_t k, double otherwise);

/* A cell of text, without blanks at its end. */
void fit_fits_cell_text(const struct fit_fits_column *c, const unsigned char *row, char text[FIT_FITS_WORD]);
