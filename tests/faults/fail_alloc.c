/* fail_alloc.c -- a library to preload, in which the n-th allocation fails.
 *
 *     FAIL_AT=n            the n-th allocation of those that count fails; 0 or none: all succeed
 *     FAIL_ON=1            and all after it, as when memory is used up
 *     FAIL_SIGNAL=number   it succeeds, but this signal comes
 *     FAIL_WHOSE=program   those that count: asked for by the program's own code (the default), by
 *                          it or by the C library on its behalf (libc), by anyone (all), by the
 *                          HDF5 library (hdf5)
 *     FAIL_COUNT=FILE      the number of those that count is written there at the end
 *
 * The caller is told by its return address.  malloc, calloc, realloc, posix_memalign, aligned_alloc
 * and anonymous mmap count.  The C library's own allocator does the work (glibc). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { RANGES = 16 };
struct range {
    uintptr_t begin, end;
};

static struct range range[RANGES];
static int nrange, ready, everyone;
static long fail_at, fail_on, fail_signal;
static atomic_long count;

/* The code of the objects that count. */
static int note_object(struct dl_phdr_info *o, size_t size, void *whose)
{
    const char *w = whose, *name = o->dlpi_name;
    (void)size;
    int program = !*name, libc = strstr(name, "libc.so") != NULL, hdf5 = strstr(name, "libhdf5") != NULL;
    if (!(strcmp(w, "hdf5") == 0 ? hdf5 : program || (strcmp(w, "libc") == 0 && libc)))
        return 0;
    for (int k = 0; k < o->dlpi_phnum; k++)
        if (o->dlpi_phdr[k].p_type == PT_LOAD && o->dlpi_phdr[k].p_flags & PF_X && nrange < RANGES) {
            uintptr_t begin = o->dlpi_addr + o->dlpi_phdr[k].p_vaddr;
            range[nrange++] = (struct range){begin, begin + o->dlpi_phdr[k].p_memsz};
        }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT"), *whose = getenv("FAIL_WHOSE"), *on = getenv("FAIL_ON"),
               *sig = getenv("FAIL_SIGNAL");
    fail_at = at ? atol(at) : 0;
    fail_on = on && *on == '1';
    fail_signal = sig ? atol(sig) : 0;
    whose = whose ? whose : "program";
    everyone = strcmp(whose, "all") == 0;
    dl_iterate_phdr(note_object, (void *)(uintptr_t)whose);
    ready = 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *file = getenv("FAIL_COUNT");
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (fd >= 0 && write(fd, text, (size_t)n) == n)
        close(fd);
}

static int fails(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    int counts = everyone;
    if (!ready)
        return 0;
    for (int k = 0; k < nrange && !counts; k++)
        counts = at >= range[k].begin && at < range[k].end;
    if (!counts)
        return 0;
    long n = atomic_fetch_add(&count, 1) + 1;
    if (!fail_at || (fail_on ? n < fail_at : n != fail_at))
        return 0;
    if (fail_signal) {
        kill(getpid(), (int)fail_signal);
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *got = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, n);
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

void *mmap(void *at, size_t n, int access, int flags, int fd, off_t offset)
{
    if (flags & MAP_ANONYMOUS && fails(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, n, access, flags, fd, offset);
}
