/* lock.c -- one run at a time in an output folder; see lock.h. */
#define _DEFAULT_SOURCE /* gethostname */
#include "base/lock.h"

#include "base/clock.h"
#include "base/output.h"

#include "common/unique.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char RUN[] = ".homodyne.lock", TABLE[] = ".homodyne.table.lock";
enum { PATH = 1024 + sizeof TABLE + 1, TEXT = 400 };

static void path_of(const char *folder, const char *name, char path[PATH])
{
    snprintf(path, PATH, "%.1023s/%s", folder, name);
}

/* The holder of the folder, as named in the file; "" when the file is empty. */
static void read_holder(const char *path, char text[TEXT])
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT - 1);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c; c++)
        *c = *c >= 32 && *c < 127 ? *c : '?';
    if (fd >= 0)
        close(fd);
}

static void write_holder(int fd, const char *program, const char *id)
{
    char text[TEXT], host[64] = "", now[40];
    const time_t t = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&t, &utc));
    const int n = snprintf(text, sizeof text, "%.80s, process %ld on host %s, since %s%s%.40s\n", program,
                           (long)getpid(), *host ? host : "unknown", now, *id ? ", run " : "", id);
    if (ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, text, (size_t)n, 0); /* on a full disk the lock works without a name */
}

/* Has the holder, who was there a moment ago, ended? 0: it still has the lock; `text` is its name, or "" when it has
 * none. */
static int has_ended(const char *path, char text[TEXT])
{
    const struct timespec moment = {0, 20000000};
    const int why = errno;
    int gone = 0;
    read_holder(path, text);
    for (int k = 0; k < 100 && !*text && !gone; k++) { /* it is about to write its name */
        gone = access(path, F_OK) != 0 && errno == ENOENT;
        if (!gone)
            nanosleep(&moment, NULL);
        read_holder(path, text);
    }
    errno = why;
    return gone;
}

static enum fit_status busy(const char *folder, const char *holder, struct fit_error *err)
{
    return fit_fail(
        err, FIT_ERR_IO,
        "%.300s: another run is at work in this output folder (%s); wait for its end, or give this one a folder"
        " of its own with --output-dir",
        folder, *holder ? holder : "it does not say who");
}

/* Makes the folder and opens its lock. The folder may vanish in between, when another run that made it found no use
 * for it, and so may the holder. `holder`: the name of the holder, read once, because it may end at any moment. */
static enum fit_status make_and_claim(struct fit_lock *lock, const char *folder, const char *path, char holder[TEXT],
                                      struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    struct stat s;
    for (int trial = 0; trial < 100; trial++) {
        st = fit_output_folder(folder, &lock->made, err);
        if (st != FIT_OK)
            return st;
        const unsigned mode = stat(lock->folder, &s) == 0 ? (unsigned)s.st_mode & 0666u : 0600u;
        lock->fd = unique_claim(path, mode, &lock->enforced);
        if (lock->fd >= 0 || (errno != ENOENT && !(errno == EBUSY && has_ended(path, holder))))
            break;
    }
    return st;
}

/* *has_holder: 1 when this is why the lock was not obtained. */
static enum fit_status take(struct fit_lock *lock, const char *folder, const char *program, const char *id,
                            int *has_holder, struct fit_error *err)
{
    char path[PATH], holder[TEXT] = "";
    lock->fd = -1;
    lock->enforced = 0;
    lock->made = 0;
    *has_holder = 0;
    snprintf(lock->folder, sizeof lock->folder, "%s", *folder ? folder : ".");
    path_of(lock->folder, lock->name, path);
    enum fit_status st = make_and_claim(lock, folder, path, holder, err);
    if (st != FIT_OK)
        return st;
    *has_holder = lock->fd < 0 && errno == EBUSY;
    if (*has_holder)
        return busy(lock->folder, holder, err);
    if (lock->fd < 0) {
        st = fit_fail(err, FIT_ERR_IO, "%.300s: nothing can be written into the output folder: %s", lock->folder,
                      strerror(errno));
        fit_output_unmake(lock->folder, lock->made);
        return st;
    }
    write_holder(lock->fd, program, id);
    unique_sweep(lock->folder);
    return FIT_OK;
}

enum fit_status fit_lock_take(struct fit_lock *lock, const char *folder, const char *program, const char *id,
                              struct fit_error *err)
{
    int has_holder;
    lock->name = RUN;
    return take(lock, folder, program, id, &has_holder, err);
}

enum fit_status fit_lock_wait(struct fit_lock *lock, const char *folder, const char *program, double seconds,
                              struct fit_error *err)
{
    const double end = fit_seconds() + seconds;
    const struct timespec moment = {0, 10000000};
    enum fit_status st;
    int has_holder;
    lock->name = TABLE;
    while ((st = take(lock, folder, program, "", &has_holder, err)) != FIT_OK && has_holder && fit_seconds() < end)
        nanosleep(&moment, NULL);
    return st;
}

int fit_lock_is_held(const char *folder)
{
    char path[PATH];
    path_of(*folder ? folder : ".", RUN, path);
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    const int held = fd >= 0 && unique_is_locked(fd);
    if (fd >= 0)
        close(fd);
    return held;
}

void fit_lock_release(struct fit_lock *lock)
{
    char path[PATH];
    if (lock->fd < 0)
        return;
    path_of(lock->folder, lock->name, path);
    unlink(path); /* while the lock is ours: a process that opens the file now finds its name gone, and makes a new
                   * one */
    close(lock->fd);
    fit_output_unmake(lock->folder, lock->made);
    *lock = (struct fit_lock)FIT_LOCK_NONE;
}
