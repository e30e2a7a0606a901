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

/* Bytes [from, from + n) of an open file, which stays open as long as the mapping.  NULL: they cannot be mapped,
 * on this system or at all. */
struct fit_mapped *fit_mapped_new(int fd, uint64_t from, size_t n);
void fit_mapped_free(struct fit_mapped *m);

/* The first byte. */
const unsigned char *fit_mapped_bytes(const struct fit_mapped *m);

/* 1 when bytes were read that the file does not have any more, or that cannot be read. */
int fit_mapped_lost(const struct fit_mapped *m);

/* Asks the system for bytes [at, at + n) unless it has them in memory.  Waits for none of them, or with large pages for
 * one of each. */
void fit_mapped_fetch(const struct fit_mapped *m, size_t at, size_t n);

/* The bytes will not be wanted soon: they no longer count as memory of the process.  Of a large page the last bytes
 * are what counts. */
void fit_mapped_drop(const struct fit_mapped *m, size_t at, size_t n);

/* ---- large pages (mapped_large.c) ------------------------------------------------------------ */

/* Bytes of a large page, 0 where there are none. */
size_t fit_mapped_large_page(void);

/* From now on what is read from the disk comes in large pages, where the system can: a page of 2 MB is mapped as fast
 * as one of 4 KB.  To be asked for before anything is read.  0: that is not possible. */
int fit_mapped_large(struct fit_mapped *m);

/* Brings bytes [at, at + n) into the page cache in large pages.  What is there in small ones is read again, while
 * that is fast enough to be worth it.  From any thread. */
void fit_mapped_gather(struct fit_mapped *m, size_t at, size_t n);

#endif
