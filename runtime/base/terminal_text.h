/* terminal_text.h -- a screen of text as a terminal shows it: signs in place of their spelling where the locale has
 * them, and one colour, for the verdict. */
#pragma once

#include <stdio.h>

/* Does the locale of the environment (LC_ALL, LC_CTYPE, LANG: the first that is set) write UTF-8? */
int fit_locale_is_utf8(void);

/* Are colours wanted?  Not where NO_COLOR is set (https://no-color.org), nor on a terminal that is "dumb". */
int fit_colours_wanted(void);

/* Writes the text.  signs: "+-" becomes the sign, "angstrom^2/s" Å²/s, "deg" °, "um" µm, columns stay where they are;
 * colour: the word behind "quality: " or "verdict: " at the beginning of a line is green, yellow or red. */
void fit_put_screen(FILE *f, const char *text, int signs, int colour);
