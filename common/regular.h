/* regular.h -- opening files that are read.  A pipe, a socket or a device in the place of a file would be waited for
 * without an end, and cannot be read twice: it is refused. */
#ifndef COMMON_REGULAR_H
#define COMMON_REGULAR_H

#include <stdio.h>

/* A regular file, open for reading, its descriptor; -1 with errno, EINVAL when it is something else.  Never waits. */
int regular_descriptor(const char *path);

/* The same as a stream; NULL with errno. */
FILE *regular_open(const char *path);

/* What is there instead of a file: "a pipe", "a socket", "a device"; NULL for files, folders and nothing. */
const char *regular_what(const char *path);

#endif
