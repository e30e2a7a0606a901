/* stream.h -- standard output and standard error through which only the program itself can control the terminal.
 *
 * Everything that a program prints goes through such a stream: texts of models, names in data files, keys of
 * configurations, file names. Control characters other than newlines and tabs, and bytes that are not UTF-8, are
 * printed as \xHH (text_printable), so that no foreign text can move the cursor, rename the window or hide earlier
 * output. The program's own sequences (a progress line that is rewritten) go through text_stream_control.
 */
#ifndef COMMON_STREAM_H
#define COMMON_STREAM_H

#include <stdio.h>

/* A stream that writes to fd 1 or 2, made once each, buffered like stdout and stderr; write errors are those of any
 * stream. Without memory for it, stdout or stderr itself. */
FILE *text_stream(int fd);

/* Writes a control sequence of the program itself unchanged, and flushes; f: any stream. */
void text_stream_control(FILE *f, const char *sequence);

/* The exit code of a program that would exit with `code`, after its output has been written. If that fails, it says
 * so and returns 4. */
int text_stream_finish(const char *program, int code);

#endif
