/* mapped.c -- bytes of a file as memory.  See mapped.h.
 *
 * The handler finds the mapping of an address in a table of a fixed size that is read without a
 * lock, and puts pages of zeros (an anonymous mapping, one system call) over the rest of it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mincore */
#endif
#include "mapped_impl.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 64, LOOK = 256 /* pages that are looked at together */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct fit_mapped *) table[MOST];
static size_t count;
static struct sigaction before;

size_t fit_mapped_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- pages that are no more ------------------------------------------------------------------ */

static int cover(const unsigned char *address)
{
    for (int k = 0; k < MOST; k++) {
        struct fit_mapped *m = atomic_load(&table[k]);
        if (!m || address < m->map || address >= m->map + m->bytes)
            continue;
        size_t at = (size_t)(address - m->map) / fit_mapped_page() * fit_mapped_page();
        atomic_store(&m->lost, 1);
        return mmap(m->map + at, m->bytes - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                    0) != MAP_FAILED;
    }
    return 0;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    if (cover(info->si_addr))
        return;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        sigaction(SIGBUS, &before, NULL); /* the access is repeated, and ends the process */
}

/* Puts m into the table; 0: it is full, or there can be no handler.  Locked. */
static int enter(struct fit_mapped *m)
{
    struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    own.sa_sigaction = on_bus_error;
    sigemptyset(&own.sa_mask);
    for (int k = 0; k < MOST; k++) {
        if (atomic_load(&table[k]))
            continue;
        if (count == 0 && sigaction(SIGBUS, &own, &before) != 0)
            return 0;
        count++;
        atomic_store(&table[k], m);
        return 1;
    }
    return 0;
}

/* The handler goes with the last mapping, unless another has come on top of it. */
static void leave(struct fit_mapped *m)
{
    struct sigaction now;
    for (int k = 0; k < MOST; k++)
        if (atomic_load(&table[k]) == m) {
            atomic_store(&table[k], NULL);
            count--;
        }
    if (count == 0 && sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_bus_error)
        sigaction(SIGBUS, &before, NULL);
}

/* ---- mapping --------------------------------------------------------------------------------- */

struct fit_mapped *fit_mapped_new(int fd, uint64_t from, size_t n)
{
    size_t page = fit_mapped_page(), large = fit_mapped_large_page();
    size_t shift = (size_t)(from % (large ? large : page)); /* large pages begin at their multiples in a file */
    struct fit_mapped *m = calloc(1, sizeof *m);
    if (!m || n == 0) {
        free(m);
        return NULL;
    }
    m->fd = fd;
    m->from = from - shift;
    m->shift = shift;
    m->bytes = (shift + n + page - 1) / page * page;
    m->map = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, fd, (off_t)(from - shift));
    if (m->map == MAP_FAILED) {
        free(m);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    int entered = enter(m);
    pthread_mutex_unlock(&lock);
    if (entered)
        return m;
    munmap(m->map, m->bytes);
    free(m);
    return NULL;
}

void fit_mapped_free(struct fit_mapped *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&lock);
    leave(m);
    pthread_mutex_unlock(&lock);
    munmap(m->map, m->bytes);
    free(m);
}

const unsigned char *fit_mapped_bytes(const struct fit_mapped *m)
{
    return m->map + m->shift;
}

int fit_mapped_lost(const struct fit_mapped *m)
{
    return atomic_load_explicit(&m->lost, memory_order_relaxed);
}

/* ---- pages ----------------------------------------------------------------------------------- */

#ifdef __linux__
/* Pages [first, last) of the mapping: those that are not in memory are asked for. */
static int fetch_pages(const struct fit_mapped *m, size_t first, size_t last)
{
    unsigned char there[LOOK];
    size_t page = fit_mapped_page();
    for (size_t k = first; k < last; k += LOOK) {
        size_t some = last - k < LOOK ? last - k : LOOK, missing = 0;
        if (mincore(m->map + k * page, some * page, there) != 0)
            return 0;
        for (size_t i = 0; i < some; i++)
            missing += !(there[i] & 1);
        if (missing)
            madvise(m->map + k * page, some * page, MADV_WILLNEED);
    }
    return 1;
}

/* WILLNEED makes small pages, the first access to a large one a large one. */
static void touch_large(const struct fit_mapped *m, size_t first, size_t last)
{
    size_t large = fit_mapped_large_page();
    for (size_t at = first; at < last; at = at / large * large + large)
        fit_mapped_touch(m, at);
}
#endif

void fit_mapped_fetch(const struct fit_mapped *m, size_t at, size_t n)
{
#ifdef __linux__
    size_t page = fit_mapped_page(), first = m->shift + at, last = first + n;
    if (n > 0 && m->large)
        touch_large(m, first, last);
    fetch_pages(m, first / page, (last + page - 1) / page);
#else
    (void)m;
    (void)at;
    (void)n;
#endif
}

void fit_mapped_drop(const struct fit_mapped *m, size_t at, size_t n)
{
#ifdef MADV_DONTNEED
    size_t unit = m->large ? fit_mapped_large_page() : fit_mapped_page();
    size_t first = (m->shift + at) / unit * unit, last = (m->shift + at + n) / unit * unit;
    if (last > first)
        madvise(m->map + first, last - first, MADV_DONTNEED);
#else
    (void)m;
    (void)at;
    (void)n;
#endif
}
