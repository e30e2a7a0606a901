/* text.h -- foreign texts (of models, files, command lines) on their way to a terminal, a page or a file of ours.
 *
 * A text may contain bytes that are not UTF-8, and characters that act instead of being displayed: an escape sequence
 * moves the cursor or renames the window, U+202E reverses the direction of what follows (Unicode Standard Annex 9),
 * U+0085 and U+2028 end a line.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>

/* Length in bytes of the well-formed UTF-8 character at s (RFC 3629, table of section 4), or 0.  s ends with a zero
 * byte. */
size_t text_utf8_length(const char *s);

/* 1: the character of n bytes (text_utf8_length) at s acts on a terminal instead of being displayed: C0, DEL, C1
 * (ECMA-48), ends of lines, and marks of direction. Newlines and tabs count, too. */
int text_is_control(const char *s, size_t n);

/* Makes n bytes, followed by a zero byte, printable: control characters other than \n and \t (keep_lines 0: all of
 * them) and bytes that are not UTF-8 become \xHH. At most size - 1 bytes and a zero byte are written, whole
 * characters only. Returns the full length, as snprintf. */
size_t text_printable(const char *s, size_t n, int keep_lines, char *out, size_t size);

/* The character at s as written in a string of JSON (RFC 8259, section 7) or in XML and HTML, whose attributes have
 * double quotes; ended by a zero byte. Returns the bytes of the character. Bytes that are not UTF-8 become U+FFFD.
 * XML 1.0, section 2.2, allows of the control characters only tab and line ends: the others are removed, as are
 * marks of direction. */
enum { TEXT_ONE = 8 };
size_t text_json(const char *s, char out[TEXT_ONE]);
size_t text_xml(const char *s, char out[TEXT_ONE]);

/* 1: text has this end and something before it. */
int text_ends_with(const char *text, const char *end);

/* The last part of a path. */
const char *text_file_name(const char *path);

#endif
