/* unique.h -- names that no other process has, and files of such names.
 *
 * A process number is no name: containers begin to count anew, and each host counts for itself.  Names are 64 random
 * bits (getrandom), files are made with O_EXCL, and a file that is being written is locked (fcntl, Linux: locks of the
 * open file, which end with it).  So what a killed program has left is told from what another one is writing at this
 * moment: the lock of a file that nobody writes can be had.
 *
 *     char path[4096];
 *     int fd = unique_beside("results/fit.json", path, sizeof path);     results/.fit.json.0123456789abcdef.part
 *     ... write(fd, ...), rename(path, "results/fit.json"), close(fd)
 */
#ifndef COMMON_UNIQUE_H
#define COMMON_UNIQUE_H

#include <stddef.h>

enum { UNIQUE_ID = 17 }; /* 16 hexadecimal digits and the end */

void unique_id(char id[UNIQUE_ID]);

/* Has another process the lock?  Does not take it, not even for a moment: nobody is refused because of a look. */
int unique_is_locked(int fd);

/* A new, locked file for what will be renamed to `target`.  Returns it open for reading and writing, or -1 with errno.
 */
int unique_beside(const char *target, char *path, size_t size);

/* Removes the files of unique_beside() in a folder which nobody writes. */
void unique_sweep(const char *folder);

/* A new, locked file of this very name, or one that a dead process has left: the descriptor, and *made = 1 when it is
 * new.  -1 with errno EBUSY: another process has it. *locked = 0: the file system has no locks. */
int unique_claim(const char *path, unsigned mode, int *locked);

/* Is `name` what begins with `before` and ends with 16 digits and `after`? */
int unique_is_name(const char *name, const char *before, const char *after);

#endif
