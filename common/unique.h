/* unique.h -- file names that no other process uses, and files of such names.
 *
 * A process number is not unique: containers restart the count, and each host has its own. Names therefore contain 64
 * random bits (getrandom), files are created with O_EXCL, and a file that is being written is locked (fcntl, Linux:
 * locks of the open file, which end with it). The leftovers of a killed program can thus be told from a file that
 * another program is writing at this moment: nobody holds their lock.
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

/* Does another process hold the lock? The test never takes it, not even for a moment, so that nobody is refused
 * because of it. */
int unique_is_locked(int fd);

/* Creates a locked file that will be renamed to `target`. Returns it open for reading and writing, or -1 with errno.
 */
int unique_beside(const char *target, char *path, size_t size);

/* Removes the files of unique_beside() in a folder that nobody is writing. */
void unique_sweep(const char *folder);

/* The descriptor of a locked file of exactly this name, new or left by a dead process; *made = 1 when it is new. -1
 * with errno EBUSY: another process holds it. *locked = 0: the file system has no locks. */
int unique_claim(const char *path, unsigned mode, int *locked);

/* Does `name` consist of `before`, 16 digits and `after`? */
int unique_is_name(const char *name, const char *before, const char *after);

#endif
