/* run_files.c -- do the files of a result come from one run? See run_files.h. */
#include "input/run_files.h"

#include "base/lock.h"
#include "base/run_id.h"
#include "files/npz.h"
#include "hdf5/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 65536, PATH = 1200 }; /* an id stands near the beginning of a text; a summary is short */

/* ---- the id of one file ------------------------------------------------------------------------------------------ */

/* The 16 digits that follow `mark`; "" when there are none. */
static void take(const char *text, const char *mark, char id[FIT_RUN_ID])
{
    id[0] = '\0';
    for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
        at += strlen(mark);
        if (strspn(at, "0123456789abcdef") != FIT_RUN_ID - 1)
            continue;
        memcpy(id, at, FIT_RUN_ID - 1);
        id[FIT_RUN_ID - 1] = '\0';
        return;
    }
}

static void of_text(const char *path, const char *mark, char id[FIT_RUN_ID])
{
    char text[HEAD + 1];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, HEAD);
    text[n > 0 ? n : 0] = '\0';
    take(text, mark, id);
    if (fd >= 0)
        close(fd);
}

static int of_json(const char *path, char id[FIT_RUN_ID])
{
    of_text(path, "\"run_id\": \"", id);
    return 1;
}

static int of_line(const char *path, char id[FIT_RUN_ID])
{
    of_text(path, "run ", id);
    return 1;
}

/* Frees the text. */
static void keep(char *text, char id[FIT_RUN_ID])
{
    snprintf(id, FIT_RUN_ID, "%s", text ? text : "");
    free(text);
}

/* Reads the id from the attribute (NULL: none) of an object, or else from a text. */
static int of_object(const char *path, const char *object, const char *attribute, char id[FIT_RUN_ID])
{
    struct fit_h5 *h = NULL;
    struct fit_error ignored;
    char *text = NULL;
    int whole = fit_h5_open(path, &h, &ignored) == FIT_OK;
    if (whole && attribute && fit_h5_has_attr(h, object, attribute))
        whole = fit_h5_read_attr_string(h, object, attribute, &text, &ignored) == FIT_OK;
    else if (whole && !attribute && fit_h5_exists(h, object))
        whole = fit_h5_read_string(h, object, &text, &ignored) == FIT_OK;
    fit_h5_close(h);
    keep(text, id);
    return whole;
}

static int of_hdf5(const char *path, char id[FIT_RUN_ID])
{
    return of_object(path, "/entry/run_id", NULL, id);
}

static int of_netcdf(const char *path, char id[FIT_RUN_ID])
{
    return of_object(path, "/", "run_id", id);
}

static int of_npz(const char *path, char id[FIT_RUN_ID])
{
    struct fit_npz *z = NULL;
    struct fit_error ignored;
    char *text = NULL;
    int whole = fit_npz_open(path, &z, &ignored) == FIT_OK;
    if (whole && fit_npz_find(z, "run_id") >= 0)
        whole = fit_npz_read_text(z, fit_npz_find(z, "run_id"), &text, &ignored) == FIT_OK;
    fit_npz_close(z);
    keep(text, id);
    return whole;
}

/* ---- the set ----------------------------------------------------------------------------------------------------- */

static const struct member {
    const char *name;
    int (*id)(const char *path, char id[FIT_RUN_ID]); /* 0: the file is damaged; its reader will report that */
    int plain; /* a text that people edit: it passes without an id */
} member[] = {{"fit.json", of_json, 0},
              {"fit.h5", of_hdf5, 0},
              {"posterior.nc", of_netcdf, 0},
              {"summary.txt", of_line, 1},
              {"run.log", of_line, 1},
              {"config.effective.yaml", of_line, 1},
              {"cmc/samples.npz", of_npz, 0},
              {"cmc/parameters.json", of_json, 0},
              {"cmc/diagnostics.json", of_json, 0},
              {"cmc/analysis_results_cmc.json", of_json, 0}};

/* Does fit.json list this file as one that an earlier run left? */
static int is_kept(const char *head, const char *name)
{
    char quoted[64];
    const char *list = strstr(head, "\"kept_files\": ["), *end = list ? strchr(list, ']') : NULL;
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    const char *at = list ? strstr(list, quoted) : NULL;
    return at && end && at < end;
}

static void read_head(const char *path, char head[HEAD + 1])
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, HEAD, f) : 0;
    head[n] = '\0';
    if (f)
        fclose(f);
}

static int is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static enum fit_status look(const char *folder, struct fit_error *err)
{
    char path[PATH], head[HEAD + 1], first[FIT_RUN_ID], id[FIT_RUN_ID];
    snprintf(path, sizeof path, "%s/%s", folder, member[0].name);
    if (!is_file(path))
        return FIT_OK;
    read_head(path, head);
    member[0].id(path, first);
    for (size_t k = 1; k < sizeof member / sizeof *member; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, member[k].name);
        if (!is_file(path) || is_kept(head, member[k].name))
            continue;
        if (!member[k].id(path, id) || strcmp(id, first) == 0 || (member[k].plain && !*id))
            continue;
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: files of two runs are in this folder: %s is of run %s, %s of run %s; fit again into an empty"
            " folder, or put the files of one run back",
            folder, member[0].name, *first ? first : "(none: an earlier version)", member[k].name,
            *id ? id : "(none: an earlier version)");
    }
    return FIT_OK;
}

/* A run that is just ending renames its files one after the other: waits until it has finished. */
enum fit_status fit_run_id_check(const char *folder, struct fit_error *err)
{
    const struct timespec moment = {0, 50000000};
    enum fit_status st = look(folder, err);
    for (int k = 0; k < 40 && st != FIT_OK && fit_lock_is_held(folder); k++) {
        nanosleep(&moment, NULL);
        st = look(folder, err);
    }
    return st;
}
