/* output.c -- atomic writing of files: temporary name (unique.h), fsync, rename (POSIX rename is atomic). */
#include "base/output.h"

#include "common/unique.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folder path and its parents; *made: how many of them, counted from the last, were missing. 0, or errno
 * of mkdir(). */
static int make_folders(char *path, size_t n, unsigned *made)
{
    *made = 0;
    for (size_t k = 1; k <= n; k++) {
        if (path[k] != '/' && path[k] != '\0')
            continue;
        path[k] = '\0';
        const int fresh = mkdir(path, 0777) == 0;
        *made = fresh ? *made + 1 : 0;
        if (!fresh && errno != EEXIST)
            return errno;
        path[k] = k < n ? '/' : '\0';
    }
    return 0;
}

enum fit_status fit_output_folder(const char *folder, unsigned *made, struct fit_error *err)
{
    enum { TRIALS = 100 }; /* between our calls another run may remove a folder that it had made in vain */
    char path[FIT_OUTPUT_PATH];
    folder = *folder ? folder : ".";
    size_t n = strlen(folder);
    struct stat s;
    int bad = 0, gone = 1;
    *made = 0;
    if (n >= sizeof path)
        return fit_fail(err, FIT_ERR_IO, "%.80s...: the path is too long", folder);
    for (int trial = 0; trial < TRIALS && gone; trial++) {
        memcpy(path, folder, n + 1);
        bad = make_folders(path, n, made);
        gone = bad == ENOENT || (!bad && stat(folder, &s) != 0 && errno == ENOENT);
    }
    if (bad)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot make this folder: %s", path, strerror(bad));
    if (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode))
        return fit_fail(err, FIT_ERR_IO, "%s: a file of this name is in the way of the output folder", folder);
    return FIT_OK;
}

void fit_output_unmake(const char *folder, unsigned made)
{
    char path[FIT_OUTPUT_PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (unsigned k = 0; k < made; k++) {
        if (rmdir(path) != 0)
            return;
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        while (slash > path && slash[-1] == '/')
            slash--;
        *slash = '\0';
    }
}

enum fit_status fit_output_begin(struct fit_output *out, const char *folder, struct fit_error *err)
{
    unsigned made;
    *out = (struct fit_output){0};
    enum fit_status st = fit_output_folder(folder, &made, err);
    if (st != FIT_OK)
        return st;
    snprintf(out->folder, sizeof out->folder, "%s", *folder ? folder : ".");
    unique_sweep(out->folder);
    out->file = calloc(FIT_OUTPUT_MAX, sizeof *out->file);
    if (!out->file)
        return fit_no_memory(err, "list of output files");
    return FIT_OK;
}

/* The next file of the set, with its final name; not counted yet. */
static enum fit_status next_file(struct fit_output *out, const char *name, struct fit_output_file **f,
                                 struct fit_error *err)
{
    if (out->n == FIT_OUTPUT_MAX)
        return fit_fail(err, FIT_ERR_INTERNAL, "%s: more than %d output files", name,
                        FIT_OUTPUT_MAX);
    *f = &out->file[out->n];
    int n = snprintf((*f)->final, sizeof(*f)->final, "%s/%s", out->folder, name);
    return n >= 0 && (size_t)n < sizeof(*f)->final ? FIT_OK
                                                   : fit_fail(err, FIT_ERR_IO, "%s: the path is too long", name);
}

enum fit_status fit_output_remove(struct fit_output *out, const char *name, struct fit_error *err)
{
    struct fit_output_file *f = NULL;
    enum fit_status st = next_file(out, name, &f, err);
    if (st != FIT_OK)
        return st;
    f->temporary[0] = '\0';
    f->fd = -1;
    out->n++;
    return FIT_OK;
}

enum fit_status fit_output_add(struct fit_output *out, const char *name, const char **path,
                               struct fit_error *err)
{
    struct fit_output_file *f = NULL;
    enum fit_status st = next_file(out, name, &f, err);
    if (st != FIT_OK)
        return st;
    f->fd = unique_beside(f->final, f->temporary, sizeof f->temporary);
    if (f->fd < 0)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", f->final, strerror(errno));
    out->n++;
    *path = f->temporary;
    return FIT_OK;
}

static enum fit_status write_text(const char *path, const char *text, size_t size,
                                  struct fit_error *err)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    size_t n = fwrite(text, 1, size, f);
    int bad = fclose(f) != 0 || n != size;
    return bad ? fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno))
               : FIT_OK;
}

enum fit_status fit_output_add_text(struct fit_output *out, const char *name, const char *text,
                                    size_t size, struct fit_error *err)
{
    const char *path = NULL;
    enum fit_status st = fit_output_add(out, name, &path, err);
    return st == FIT_OK ? write_text(path, text, size, err) : st;
}

/* Waits until the content is on disk. Some file systems cannot (EINVAL), which is no error. */
static int flush_to_disk(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    int bad = fsync(fd) != 0 && errno != EINVAL && errno != EROFS;
    close(fd);
    return bad ? -1 : 0;
}

/* No output is empty: an empty file was only reserved, or the folder was removed and made again. */
static int is_written(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && s.st_size > 0;
}

/* A folder with the name of a file would stop the renames after the first of them. */
static enum fit_status nothing_in_the_way(const struct fit_output *out, struct fit_error *err)
{
    struct stat s;
    for (size_t k = 0; k < out->n; k++)
        if (lstat(out->file[k].final, &s) == 0 && S_ISDIR(s.st_mode))
            return fit_fail(err, FIT_ERR_IO, "%s: a folder of this name is in the way of the file; nothing was changed",
                            out->file[k].final);
    return FIT_OK;
}

enum fit_status fit_output_commit(struct fit_output *out, struct fit_error *err)
{
    enum fit_status st = nothing_in_the_way(out, err);
    for (size_t k = 0; k < out->n && st == FIT_OK; k++)
        if (!*out->file[k].temporary)
            continue;
        else if (!is_written(out->file[k].temporary))
            st = fit_fail(err, FIT_ERR_IO, "%s: cannot be put in place: its content is gone",
                          out->file[k].final);
        else if (flush_to_disk(out->file[k].temporary) != 0)
            st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", out->file[k].final,
                          strerror(errno));
    for (size_t k = 0; k < out->n && st == FIT_OK; k++) {
        if (!*out->file[k].temporary)
            continue;
        if (rename(out->file[k].temporary, out->file[k].final) != 0)
            st = fit_fail(err, FIT_ERR_IO, "%s: cannot be put in place: %s", out->file[k].final,
                          strerror(errno));
        else
            out->file[k].temporary[0] = '\0';
    }
    for (size_t k = 0; k < out->n && st == FIT_OK; k++)
        if (out->file[k].fd < 0 && unlink(out->file[k].final) != 0 && errno != ENOENT)
            st = fit_fail(err, FIT_ERR_IO, "%s: cannot be removed: %s", out->file[k].final, strerror(errno));
    if (st == FIT_OK)
        flush_to_disk(out->folder); /* the renames themselves; best effort */
    fit_output_abandon(out);        /* frees; unlinks what a failure left */
    return st;
}

void fit_output_abandon(struct fit_output *out)
{
    for (size_t k = 0; k < out->n; k++) {
        if (*out->file[k].temporary)
            unlink(out->file[k].temporary);
        if (out->file[k].fd >= 0)
            close(out->file[k].fd); /* this also releases the lock, which keeps others from removing the file */
    }
    free(out->file);
    *out = (struct fit_output){0};
}

enum fit_status fit_output_is_new(const char *path, const char *option, struct fit_error *err)
{
    return access(path, F_OK) != 0
               ? FIT_OK
               : fit_fail(err, FIT_ERR_USAGE, "%s exists; --force writes over it, %s FILE elsewhere", path, option);
}

enum fit_status fit_output_one(struct fit_output *out, const char *path, const char **temporary,
                               struct fit_error *err)
{
    char folder[FIT_OUTPUT_PATH];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    *out = (struct fit_output){0};
    if (n >= sizeof folder)
        return fit_fail(err, FIT_ERR_IO, "%.80s...: the path is too long", path);
    memcpy(folder, path, n);
    folder[n] = '\0';
    enum fit_status st = fit_output_begin(out, slash && n == 0 ? "/" : folder, err);
    if (st == FIT_OK)
        st = fit_output_add(out, slash ? slash + 1 : path, temporary, err);
    if (st != FIT_OK)
        fit_output_abandon(out);
    return st;
}

enum fit_status fit_output_write(const char *path, const char *text, size_t size,
                                 struct fit_error *err)
{
    struct fit_output out;
    const char *temporary;
    enum fit_status st = fit_output_one(&out, path, &temporary, err);
    if (st == FIT_OK)
        st = write_text(temporary, text, size, err);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}
