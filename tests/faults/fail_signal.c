/* fail_signal.c -- a library to preload, in which signals come all the time: calls of the system are
 * interrupted (EINTR), reads and writes do less than they were asked for. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void nothing(int number)
{
    (void)number;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction a = {.sa_handler = nothing}; /* without SA_RESTART */
    struct itimerval every = {{0, 2000}, {0, 2000}};
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

/* Every third call is interrupted, every other one cut short. */
static int odd(size_t *n)
{
    static atomic_uint count;
    unsigned k = atomic_fetch_add(&count, 1);
    if (k % 3 == 0) {
        errno = EINTR;
        return 1;
    }
    if (k % 2 == 0 && *n > 1)
        *n = (*n + 1) / 2;
    return 0;
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return odd(&n) ? -1 : (ssize_t)syscall(SYS_pread64, fd, to, n, at);
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    return odd(&n) ? -1 : (ssize_t)syscall(SYS_pread64, fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
    return odd(&n) ? -1 : (ssize_t)syscall(SYS_write, fd, from, n);
}
