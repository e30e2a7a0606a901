/* markup.h -- the only way by which text enters a page or an SVG.
 *
 * What is written is a format of the program, whose own characters are markup, and its arguments, which are data of
 * strangers (names, titles, settings, paths out of fit.json, fit.h5 and models): they are escaped, always.  So no
 * argument can open an element, leave an attribute in double quotes, or make the page another thing than well-formed
 * XML in UTF-8. The stream is hidden in a structure, so that printf and fputs do not get at it by accident.
 */
#ifndef RP_MARKUP_H
#define RP_MARKUP_H

#include <stdio.h>

struct rp_markup {
    FILE *file;
};

/* printf with a format of markup.  Arguments of %s are escaped (%.3s: so many bytes at most); numbers need no escape:
 * d, u, x, f, g, e, with l and z. */
void rp_put(struct rp_markup *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text of the program itself which is no string literal: its style sheet, its script, nothing else. */
void rp_put_raw(struct rp_markup *out, const char *own);

#endif
