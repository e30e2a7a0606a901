/* stream.h -- standard output and standard error through which nothing acts on the terminal but what the program means
 * to.
 *
 * All that a program prints goes through such a stream: texts of models, names in data files, keys of configurations,
 * file names. Controls other than new lines and tabs, and bytes that are no UTF-8, come out as \xHH (text_printable),
 * so that no text of a stranger can move the cursor, rename the window or hide what was printed before.  The program's
 * own sequences (a line of progress that is written again) are given to text_stream_control.
 */
#ifndef COMMON_STREAM_H
#define COMMON_STREAM_H

#include <stdio.h>

/* A stream that writes to fd 1 or 2, made once each, buffered as stdout and stderr are; errors of writing as of any
 * stream.  When there is no memory for it, stdout or stderr itself. */
FILE *text_stream(int fd);

/* Writes a sequence of the program itself as it is, and flushes; f: any stream. */
void text_stream_control(FILE *f, const char *sequence);

/* The end of a program that would exit with `code`: what it printed must have arrived.  Otherwise says so, and
 * returns 4. */
int text_stream_finish(const char *program, int code);

#endif
