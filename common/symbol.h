/* symbol.h -- a parameter name as a mathematical symbol: D0_ref is D with the subscript "0, ref", gamma_dot_t0 a
 * gamma with a dot and the subscript 0.
 *
 * A name is split at its underscores. The first part is the base: a Greek word is its letter, one letter stands for
 * itself, several are a word. Digits at its end and the other parts form the subscript, as does an index in
 * brackets. dot, hat, bar and tilde after a base of one letter are accents. After a dot, "t" names the variable of
 * the derivative and is no subscript (gamma_dot_t_offset: offset). */
#pragma once

#include <stddef.h>

struct symbol_greek {
    const char *word, *text, *tex; /* "alpha", "α", "\\alpha" */
};

/* NULL: no Greek letter. */
const struct symbol_greek *symbol_greek(const char *word, size_t n);

enum symbol_kind { SYMBOL_LETTER, SYMBOL_WORD, SYMBOL_NUMBER };

struct symbol_part {
    enum symbol_kind kind;
    const char *text; /* n bytes, in the name */
    size_t n;
    const struct symbol_greek *greek; /* or NULL */
    int comma;                        /* one stands before it */
};

enum { SYMBOL_PARTS = 24 };

struct symbol {
    struct symbol_part part[SYMBOL_PARTS]; /* the base, then the parts of the subscript; further ones are left out */
    size_t n;
    const char *accent; /* of the base: "dot", "hat", "bar", "tilde", or NULL */
};

/* The symbol points into the name. */
void symbol_cut(const char *name, struct symbol *s);
