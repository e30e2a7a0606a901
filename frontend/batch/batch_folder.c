/* batch_folder.c -- several commands work in one output folder, as parts of an array or one after another, but not with
 * different settings at the same time: their fits would replace each other's, and the table be a mixture.
 *
 * While a command works it holds the lock of a file .batch.SETTINGS.ID in the folder: 16 digits of the hash of its
 * settings, and 16 random ones. It contains who it is. Locks end with their process, on all hosts; files that nobody
 * holds are removed. */
#define _DEFAULT_SOURCE /* gethostname */
#include "frontend/batch/batch.h"

#include "base/output.h"
#include "common/unique.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = UNIQUE_ID - 1, WHO = 160 };
static const char BEFORE[] = ".batch.";

/* .batch.0123456789abcdef.0123456789abcdef */
static int is_name(const char *name)
{
    const size_t n = sizeof BEFORE - 1;
    return strlen(name) == n + 2 * DIGITS + 1 && strncmp(name, BEFORE, n) == 0 && name[n + DIGITS] == '.';
}

/* Is a command at work that made this file? Then who; a file that was left is removed. */
static int is_alive(const char *path, char who[WHO])
{
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const int alive = unique_is_locked(fd);
    const ssize_t n = alive ? read(fd, who, WHO - 1) : 0;
    who[n > 0 ? n : 0] = '\0';
    who[strcspn(who, "\n")] = '\0';
    for (char *c = who; *c; c++)
        *c = *c >= 32 && *c < 127 ? *c : '?';
    if (!alive)
        unlink(path);
    close(fd);
    return alive;
}

/* Looks for commands with other settings. The command for the whole list looks at all files, and so removes those that
 * were left. */
static enum fit_status look_around(const struct batch *b, struct fit_error *err)
{
    char path[FRONT_PATH + 300], who[WHO];
    enum fit_status st = FIT_OK;
    DIR *d = opendir(b->folder);
    for (struct dirent *e; d && st == FIT_OK && (e = readdir(d)) != NULL;) {
        const int other = strncmp(e->d_name + sizeof BEFORE - 1, b->settings, DIGITS) != 0;
        if (!is_name(e->d_name) || (!other && b->nparts > 1))
            continue;
        snprintf(path, sizeof path, "%s/%.255s", b->folder, e->d_name);
        if (strcmp(path, b->here) != 0 && is_alive(path, who) && other)
            st = fit_fail(err, FIT_ERR_IO,
                          "%.300s: another `homodyne batch` with other settings (configuration, options or program) is"
                          " at work in this output folder (%s); wait for its end, or give this one a folder of its"
                          " own with --output-dir",
                          b->folder, *who ? who : "it does not say who");
    }
    if (d)
        closedir(d);
    return st;
}

enum fit_status batch_enter(struct batch *b, struct fit_error *err)
{
    char id[UNIQUE_ID], host[64] = "", who[WHO];
    int locked;
    enum fit_status st = fit_output_folder(b->folder, &b->made, err);
    if (st != FIT_OK)
        return st;
    unique_id(id);
    snprintf(b->here, sizeof b->here, "%.*s/%s%.*s.%s", FRONT_PATH, b->folder, BEFORE, DIGITS, b->settings, id);
    b->here_fd = unique_claim(b->here, 0600, &locked);
    if (b->here_fd < 0) {
        const int why = errno;
        b->here[0] = '\0';
        fit_output_unmake(b->folder, b->made);
        return fit_fail(err, FIT_ERR_IO, "%.300s: nothing can be written into the output folder: %s", b->folder,
                        strerror(why));
    }
    gethostname(host, sizeof host - 1);
    const int n = snprintf(who, sizeof who, "process %ld on host %s\n", (long)getpid(), *host ? host : "unknown");
    if (write(b->here_fd, who, (size_t)n) != n)
        (void)!ftruncate(b->here_fd, 0); /* on a full disk the lock works without a name */
    st = look_around(b, err);
    if (st != FIT_OK)
        batch_leave(b);
    return st;
}

void batch_leave(struct batch *b)
{
    if (!b->here[0])
        return;
    unlink(b->here);
    close(b->here_fd);
    b->here[0] = '\0';
}

enum fit_status batch_could_enter(struct batch *b, struct fit_error *err)
{
    const enum fit_status st = batch_enter(b, err);
    batch_leave(b);
    if (st == FIT_OK)
        fit_output_unmake(b->folder, b->made);
    return st;
}
