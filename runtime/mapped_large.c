/* mapped_large.c -- files in the page cache in large pages.  See mapped.h.
 *
 * Linux keeps a file in pages of many sizes, and chooses when the bytes come in: read(2) and advice make small ones,
 * an access to a mapping with MADV_HUGEPAGE large ones (ext4 from 6.16 on, XFS and Btrfs before; mm/filemap.c,
 * do_sync_mmap_readahead).  Of 8 GB in pages of 4 KB, mapping and letting go of them takes 1.0 s of processor time a
 * pass; in pages of 2 MB 0.04 s.  What lies there in small ones, as after a copy of the file, is therefore dropped from
 * the cache and read again; a disk that cannot do so at RATE is not worth it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mincore, RUSAGE_THREAD */
#endif
#include "mapped_impl.h"
#include "parallel.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define RATE 0.5e9 /* bytes a second and thread: with some 40 passes over the same bytes the time is won back */
#define GRACE 0.5  /* s */
enum {
    PAGES = 4, /* large pages of a block: none in a page cache is longer (MAX_PAGECACHE_ORDER of x86) */
    LOOK = 4096, /* small pages of a block, at most */
    MISSES = 64 << 20 /* bytes that remain in small pages, with a quarter of all: there was no room for large ones */
};

static pthread_once_t asked_once = PTHREAD_ONCE_INIT;
static size_t large_page;

static void ask(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
    unsigned long n = 0;
    if (f && fscanf(f, "%lu", &n) == 1 && n % fit_mapped_page() == 0)
        large_page = n;
    if (f)
        fclose(f);
}

size_t fit_mapped_large_page(void)
{
    pthread_once(&asked_once, ask);
    return large_page;
}

int fit_mapped_large(struct fit_mapped *m)
{
#ifdef MADV_HUGEPAGE
    const size_t large = fit_mapped_large_page();
    if (!m->large && large && (size_t)m->map % large == 0)
        m->large = madvise(m->map, m->bytes, MADV_HUGEPAGE) == 0;
#endif
    return m->large;
}

#ifdef __linux__

static long faults(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_minflt + u.ru_majflt : 0;
}

/* 1 when all whole large pages of [first, last) are there and are large: the second access to one is no fault. */
static int is_large(const struct fit_mapped *m, size_t first, size_t last)
{
    const size_t large = fit_mapped_large_page();
    for (; first + large <= last; first += large) {
        fit_mapped_touch(m, first);
        long before = faults();
        fit_mapped_touch(m, first + large / 2);
        if (faults() != before)
            return 0;
    }
    return 1;
}

/* Share of the pages that are in memory. */
static double present(const struct fit_mapped *m, size_t first, size_t last)
{
    unsigned char there[LOOK];
    const size_t page = fit_mapped_page(), n = (last - first) / page;
    size_t count = 0;
    if (n == 0 || n > LOOK || mincore(m->map + first, n * page, there) != 0)
        return 0;
    for (size_t k = 0; k < n; k++)
        count += there[k] & 1;
    return (double)count / (double)n;
}

/* The block leaves the cache, for which it must not be mapped, and comes back. */
static void read_again(struct fit_mapped *m, size_t first, size_t last)
{
    const size_t page = fit_mapped_page();
    const double was = fit_seconds();
    madvise(m->map + first, last - first, MADV_DONTNEED);
    posix_fadvise(m->fd, (off_t)(m->from + first), (off_t)(last - first), POSIX_FADV_DONTNEED);
    if (present(m, first, last) > 0.5)
        return; /* still to be written to the disk, or held by others */
    for (size_t at = first; at < last; at += fit_mapped_large_page() / 2)
        fit_mapped_touch(m, at);
    fit_mapped_touch(m, last - page);
    size_t all = atomic_fetch_add(&m->again, last - first) + last - first;
    size_t spent = (size_t)(1e6 * (fit_seconds() - was));
    size_t missed = is_large(m, first, last) ? 0 : last - first;
    spent += atomic_fetch_add(&m->spent, spent);
    missed += atomic_fetch_add(&m->missed, missed);
    if (1e-6 * (double)spent > GRACE + (double)all / RATE || missed > MISSES + all / 4)
        atomic_store(&m->content, 1);
}

static void gather_block(struct fit_mapped *m, size_t first, size_t last)
{
    int known = present(m, first, last) > 0.5;
    if (!is_large(m, first, last) && known && !atomic_load(&m->content))
        read_again(m, first, last);
    madvise(m->map + first, last - first, MADV_DONTNEED);
}

void fit_mapped_gather(struct fit_mapped *m, size_t at, size_t n)
{
    const size_t block = PAGES * fit_mapped_large_page(), end = m->shift + at + n;
    if (!m->large)
        return;
    for (size_t k = (m->shift + at) / block; k * block < end; k++)
        gather_block(m, k * block, (k + 1) * block < m->bytes ? (k + 1) * block : m->bytes);
}

#else

void fit_mapped_gather(struct fit_mapped *m, size_t at, size_t n)
{
    (void)m;
    (void)at;
    (void)n;
}

#endif
