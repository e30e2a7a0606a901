/* markup.h -- the only way by which text enters a page or an SVG.
 *
 * Output consists of a format of the program, whose own characters are markup, and its arguments. Arguments are
 * untrusted data (names, titles, settings, paths from fit.json, fit.h5 and models) and are always escaped. So no
 * argument can open an element, leave an attribute in double quotes, or make the page anything but well-formed XML in
 * UTF-8. The stream is hidden in a structure, so that printf and fputs cannot use it by accident.
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

/* Text of the program itself that is not a string literal: its style sheet, its script, nothing else. */
void rp_put_raw(struct rp_markup *out, const char *own);

#endif
