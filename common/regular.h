/* regular.h -- opening regular files for reading. A pipe, a socket or a device in place of a file could block
 * forever, and cannot be read twice: it is refused. */
#ifndef COMMON_REGULAR_H
#define COMMON_REGULAR_H

#include <stdio.h>

/* The descriptor of a regular file opened for reading; -1 with errno, which is EINVAL for anything else. Never
 * blocks. */
int regular_descriptor(const char *path);

/* The same as a stream; NULL with errno. */
FILE *regular_open(const char *path);

/* What is there instead of a file: "a pipe", "a socket", "a device"; NULL for files, folders, and where nothing is. */
const char *regular_what(const char *path);

#endif
