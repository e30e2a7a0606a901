/* rich.h -- texts of figures with italics, subscripts and accents, and the symbols of parameters in them.
 *
 * Four control characters mark what plain text cannot express. They occur in texts of the program, and are harmless
 * in untrusted ones. A dot above (U+0307) after a letter is its accent. */
#ifndef RP_RICH_H
#define RP_RICH_H

#include "report/draw/markup.h"

#include <stddef.h>

#define RP_IT "\1"  /* italics begin or end */
#define RP_SUB "\2" /* lowered and smaller, until RP_LINE */
#define RP_SUP "\3" /* raised and smaller */
#define RP_LINE "\4"

#define RP_T1 RP_IT "t" RP_IT RP_SUB "1" RP_LINE
#define RP_T2 RP_IT "t" RP_IT RP_SUB "2" RP_LINE
#define RP_C2 RP_IT "c" RP_IT RP_SUB "2" RP_LINE
#define RP_G2 RP_IT "g" RP_IT RP_SUB "2" RP_LINE
#define RP_TAU RP_IT "τ" RP_IT
#define RP_TIME RP_IT "t" RP_IT
#define RP_PHI RP_IT "φ" RP_IT

struct rp_run { /* a stretch of a text that looks the same */
    const char *text;
    size_t n;
    int italic, shift; /* shift: -1 subscript, 1 superscript */
};

/* Size of letters in subscripts, and how far they are shifted, in sizes of the line. */
extern const double rp_small, rp_shift;

/* The next run of a text, from *at on; 0: there is none.  run: all zero before the first. */
int rp_run_next(const char **at, struct rp_run *run);

/* The symbol of a parameter, curve or column, as rich text: "D" and the subscript 0. */
void rp_symbol(const char *name, char *text, size_t size);

/* The same for a page: elements i, sub, sup. */
void rp_put_rich(struct rp_markup *out, const char *text);
void rp_put_symbol(struct rp_markup *out, const char *name);

#endif
