/* terminal_text.h -- a screen of text as a terminal shows it: symbols in place of their spelling if the locale has
 * them, and one colour, for the verdict. */
#pragma once

#include <stdio.h>

/* Is the encoding of the locale (LC_ALL, LC_CTYPE, LANG: the first that is set) UTF-8? */
int fit_locale_is_utf8(void);

/* Are colours wanted? Not where NO_COLOR is set (https://no-color.org), nor on a "dumb" terminal. */
int fit_colours_wanted(void);

/* Writes the text. signs: "+-" becomes the symbol, "angstrom^2/s" Å²/s, "deg" °, "um" µm; columns stay aligned.
 * colour: the word after "quality: " or "verdict: " at the beginning of a line is green, yellow or red. */
void fit_put_screen(FILE *f, const char *text, int signs, int colour);
