/* mapped.h -- bytes of a file as memory, without a copy: mmap(2) of the page cache.
 *
 * A file that is cut while it is mapped has pages that are no more; who reads them would be killed
 * (SIGBUS).  Instead such pages read as zeros from then on and fit_mapped_lost() tells: so what was
 * computed from them is to be thrown away.  For this the process has a handler of SIGBUS while
 * anything is mapped; signals that do not come from here go to the handler that was there before.
 */
#ifndef FIT_MAPPED_H
#define FIT_MAPPED_H

#include <stddef.h>
#include <stdint.h>

struct fit_mapped;

/* Bytes [from, from + n) of an open file.  NULL: they cannot be mapped, on this system or at all. */
struct fit_mapped *fit_mapped_new(int fd, uint64_t from, size_t n);
void fit_mapped_free(struct fit_mapped *m);

/* The first byte. */
const unsigned char *fit_mapped_bytes(const struct fit_mapped *m);

/* 1 when bytes were read that the file does not have any more, or that cannot be read. */
int fit_mapped_lost(const struct fit_mapped *m);

/* Asks the system for bytes [at, at + n) unless it has them in memory; does not wait for them. */
void fit_mapped_fetch(const struct fit_mapped *m, size_t at, size_t n);

/* The bytes will not be wanted soon: they no longer count as memory of the process. */
void fit_mapped_drop(const struct fit_mapped *m, size_t at, size_t n);

#endif
