/* unique.c -- names that no other process has; see unique.h. */
#define _GNU_SOURCE /* locks of the open file, getrandom */
#include "common/unique.h"

#include "common/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char END[] = ".part";

/* For systems without getrandom: a hash of what differs between processes, hosts and moments; O_EXCL does the rest. */
static uint64_t guessed(void)
{
    static uint64_t count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid() << 44;
    return x ^ (uint64_t)(uintptr_t)&now ^ ++count;
}

void unique_id(char id[UNIQUE_ID])
{
    uint64_t x;
    ssize_t n;
    while ((n = getrandom(&x, sizeof x, 0)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof x)
        x = guessed();
    snprintf(id, UNIQUE_ID, "%016llx", (unsigned long long)x);
}

static int lock_now(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int bad;
    while ((bad = fcntl(fd, F_OFD_SETLK, &whole)) != 0 && errno == EINTR)
        ;
    if (bad && errno == EINVAL) /* a kernel that knows only the older locks */
        bad = flock(fd, LOCK_EX | LOCK_NB);
    if (!bad)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int unique_is_locked(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_GETLK, &whole) == 0)
        return whole.l_type != F_UNLCK;
    const int got = errno == EINVAL ? flock(fd, LOCK_SH | LOCK_NB) : 0;
    return got != 0 && errno == EWOULDBLOCK;
}

/* Does the name still refer to the open file? It does not when somebody removed it before we had the lock. */
static int is_same(int fd, const char *path)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && lstat(path, &named) == 0 && open_file.st_dev == named.st_dev &&
           open_file.st_ino == named.st_ino;
}

int unique_beside(const char *target, char *path, size_t size)
{
    const char *name = text_file_name(target);
    for (int trial = 0; trial < 100; trial++) {
        char id[UNIQUE_ID];
        unique_id(id);
        const int n = snprintf(path, size, "%.*s.%s.%s%s", (int)(name - target), target, name, id, END);
        if (n < 0 || (size_t)n >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && lock_now(fd) != 0 && is_same(fd, path))
            return fd;
        if (fd >= 0) /* swept before it was locked */
            close(fd);
    }
    errno = EEXIST;
    return -1;
}

int unique_is_name(const char *name, const char *before, const char *after)
{
    const size_t n = strlen(name), b = strlen(before), a = strlen(after), digits = UNIQUE_ID - 1;
    if (n < b + digits + a || strncmp(name, before, b) != 0 || strcmp(name + n - a, after) != 0)
        return 0;
    return strspn(name + n - a - digits, "0123456789abcdef") >= digits;
}

static void sweep_file(const char *path)
{
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    if (fd < 0)
        return;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && lock_now(fd) == 1 && is_same(fd, path))
        unlink(path);
    close(fd);
}

void unique_sweep(const char *folder)
{
    char path[4096];
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (unique_is_name(e->d_name, ".", END) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < sizeof path)
            sweep_file(path);
    closedir(d);
}

int unique_claim(const char *path, unsigned mode, int *locked)
{
    for (int trial = 0; trial < 100; trial++) {
        const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0)
            return -1;
        (void)!fchmod(fd, mode); /* in a folder of several users, each may take over the leftovers of another's
                                  * killed run */
        const int got = lock_now(fd);
        if (got == 0) {
            close(fd);
            errno = EBUSY;
            return -1;
        }
        *locked = got == 1;
        if (is_same(fd, path))
            return fd;
        close(fd); /* its owner ended and removed it between our two calls */
    }
    errno = EBUSY;
    return -1;
}
