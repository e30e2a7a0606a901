/* page.h -- the page that documents a model: its equations, parameters, derivatives, cost, tests.
 *
 * page.c determines the contents of the page and their order; a format determines how they are written. There are two:
 * html.c (one file, no network, no script; formulas in MathML) and latex.c (pdflatex with amsmath).
 */
#pragma once

#include <stdio.h>

#include "document/box.h"
#include "judge/analysis.h"

struct hg_column {
    const char *title;
    int mm; /* width on paper, for texts that may be broken into lines; 0: as wide as its contents
             */
};

/* The frame of a part of a page. */
struct hg_around {
    const char *before, *after;
};

/* How a page is written.  Texts come as the author wrote them; the format escapes them. */
struct hg_page_format {
    void (*begin)(FILE *out, const char *title, const char *subtitle);
    void (*text)(FILE *out, const char *text);
    void (*code)(FILE *out, const char *text);       /* inline, fixed width */
    void (*verbatim)(FILE *out, const char *text);   /* lines as they are */
    void (*math)(FILE *out, const struct hg_box *b); /* inline */
    void (*formula)(FILE *out, const struct hg_formula *f);
    void (*table)(FILE *out, const struct hg_column *column, uint32_t n);
    void (*cell)(FILE *out, uint32_t k); /* starts the cell of column k */
    struct hg_around section, subsection, paragraph, row;
    const char *cell_end, *table_end, *end;
};

extern const struct hg_page_format hg_page_html, hg_page_latex;

/* The mean of a variant and the parts that it is made of, one equation per line. */
void hg_page_equations(struct hg_model *m, const struct hg_variant *v, const struct hg_page_format *f, FILE *out);

/* Writes the page. found: for the cost, that of the variant v, whose kernel has been written. */
void hg_page(struct hg_model *m, const struct hg_variant *v, const struct hg_analysis *found,
             const struct hg_page_format *f, FILE *out);
