/* regular.c -- opening regular files for reading; see regular.h. */
#include "common/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_descriptor(const char *path)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* O_NONBLOCK: a pipe opens at once, even without a
                                                                   * writer */
    if (fd < 0)
        return -1;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
        return fd;
    errno = S_ISDIR(s.st_mode) ? EISDIR : EINVAL;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

FILE *regular_open(const char *path)
{
    const int fd = regular_descriptor(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

const char *regular_what(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return NULL;
    return S_ISFIFO(s.st_mode)                          ? "a pipe"
           : S_ISSOCK(s.st_mode)                        ? "a socket"
           : S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode) ? "a device"
                                                        : NULL;
}
