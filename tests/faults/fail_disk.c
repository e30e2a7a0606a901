/* fail_disk.c -- a library to preload, in which the disk fills up or the program is killed while it writes.
 *
 *     DISK_FULL=n       the n-th call that needs room writes half of what it was given, or fails; all later ones fail
 *                       with ENOSPC
 *     DISK_KILL=n       SIGKILL in place of the n-th call that changes the disk
 *     DISK_ONLY=NAME    in the program of this name only, not in others that it starts or is started by
 *     DISK_COUNT=FILE   the number of calls that change the disk is written there at the end
 *
 * Such calls are open() of a new file, write() and pwrite() but to the terminal, ftruncate(), fsync(), mkdir(),
 * rename(), unlink(); the last two need no room.  What the C library writes for a FILE does not come by here; so
 * fopen() for writing gives a stream that does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long full_at, kill_at;
static int here;
static atomic_long count;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *only = getenv("DISK_ONLY");
    full_at = number("DISK_FULL");
    kill_at = number("DISK_KILL");
    here = !only || strcmp(only, program_invocation_short_name) == 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *file = getenv("DISK_COUNT");
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    int fd = file && here ? (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0 && syscall(SYS_write, fd, text, n) == n)
        syscall(SYS_close, fd);
}

/* One more call: 0, or 1 where there is no room any more; *half: it is the one that finds the disk full. */
static int change(int needs_room, int *half)
{
    if (!here)
        return 0;
    long n = atomic_fetch_add(&count, 1) + 1;
    if (n == kill_at)
        syscall(SYS_kill, getpid(), SIGKILL);
    if (half)
        *half = full_at && n == full_at;
    if (!needs_room || !full_at || n < full_at)
        return 0;
    errno = ENOSPC;
    return 1;
}

static ssize_t put(int fd, const void *from, size_t n, int at_place, off_t at)
{
    int half = 0;
    if (fd > STDERR_FILENO && change(1, &half)) {
        if (!half || n < 2)
            return -1;
        n /= 2;
    }
    return at_place ? (ssize_t)syscall(SYS_pwrite64, fd, from, n, at) : (ssize_t)syscall(SYS_write, fd, from, n);
}

ssize_t write(int fd, const void *from, size_t n)
{
    return put(fd, from, n, 0, 0);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return put(fd, from, n, 1, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    return put(fd, from, n, 1, at);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    struct stat s;
    if (flags & O_CREAT && stat(path, &s) != 0 && change(1, NULL))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open_file(path, flags, mode);
}

int ftruncate(int fd, off_t size)
{
    return change(1, NULL) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return change(1, NULL) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd)
{
    return change(1, NULL) ? -1 : (int)syscall(SYS_fsync, fd);
}

int mkdir(const char *path, mode_t mode)
{
    struct stat s;
    return stat(path, &s) != 0 && change(1, NULL) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to)
{
    change(0, NULL);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    change(0, NULL);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* ---- streams --------------------------------------------------------------------------------- */

static ssize_t put_cookie(void *cookie, const char *from, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t one = write((int)(size_t)cookie, from + done, n - done);
        if (one < 0)
            return 0; /* as fopencookie() wants it told */
        done += (size_t)one;
    }
    return (ssize_t)n;
}

static int close_cookie(void *cookie)
{
    return close((int)(size_t)cookie);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (*mode == 'r') {
        if (!real)
            *(void **)&real = dlsym(RTLD_NEXT, "fopen");
        return real(path, mode);
    }
    int fd = open(path, O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC), 0666);
    return fd < 0 ? NULL
                  : fopencookie((void *)(size_t)fd, "w",
                                (cookie_io_functions_t){.write = put_cookie, .close = close_cookie});
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
