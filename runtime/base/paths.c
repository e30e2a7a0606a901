/* paths.c -- paths as users write them in configurations. */
#include "base/paths.h"

#include "common/nearest.h"
#include "base/units.h"

#include "common/regular.h"
#include "common/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buffer {
    char *text;
    size_t n, room;
    int failed;
};

static void put(struct buffer *b, const char *text, size_t n)
{
    b->failed |= n > (size_t)-1 / 4 - b->n;
    if (b->failed)
        return;
    if (b->n + n + 1 > b->room) {
        const size_t room = 2 * (b->n + n + 1);
        char *bigger = realloc(b->text, room);
        if (!bigger) {
            b->failed = 1;
            return;
        }
        b->text = bigger;
        b->room = room;
    }
    memcpy(b->text + b->n, text, n);
    b->n += n;
    b->text[b->n] = 0;
}

/* The variable that begins at text[0] = '$': its name, and the number of characters it takes; 0: none. */
static size_t variable(const char *text, char name[128])
{
    const size_t brace = text[1] == '{';
    size_t n = 0;
    const char *t = text + 1 + brace;
    while ((isalnum((unsigned char)t[n]) || t[n] == '_') && n < 127)
        n++;
    if (!n || isdigit((unsigned char)t[0]) || (brace && t[n] != '}'))
        return 0;
    memcpy(name, t, n);
    name[n] = 0;
    return 1 + brace + n + brace;
}

static enum fit_status expand(const char *written, struct buffer *out, struct fit_error *err)
{
    const char *t = written;
    put(out, "", 0);
    if (t[0] == '~' && (t[1] == '/' || !t[1])) {
        const char *home = getenv("HOME");
        if (!home)
            return fit_fail(err, FIT_ERR_CONFIG,
                            "path '%.300s': HOME is not set, write the folder in full", written);
        put(out, home, strlen(home));
        t++;
    }
    const int is_name = fit_path_exists(written); /* of a file that is called so, as a shell has expanded it */
    while (*t) {
        char name[128];
        const size_t used = *t == '$' && !is_name ? variable(t, name) : 0;
        if (!used) {
            put(out, t++, 1);
            continue;
        }
        const char *value = getenv(name);
        if (!value)
            return fit_fail(err, FIT_ERR_CONFIG,
                            "path '%.300s': the environment variable %s is not set", written, name);
        put(out, value, strlen(value));
        t += used;
    }
    return out->failed ? fit_no_memory(err, NULL) : FIT_OK;
}

char *fit_path_join(const char *folder, const char *name)
{
    struct buffer b = {0};
    const size_t n = strlen(folder);
    put(&b, "", 0);
    if (n && name[0] != '/') {
        put(&b, folder, n);
        if (folder[n - 1] != '/')
            put(&b, "/", 1);
        while (name[0] == '.' && name[1] == '/')
            for (name += 2; *name == '/';)
                name++;
    }
    put(&b, name, strlen(name));
    if (!b.failed)
        return b.text;
    free(b.text);
    return NULL;
}

int fit_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The path beside the file `beside`; NULL: out of memory. */
static char *join_beside(const char *beside, const char *name)
{
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    if (!slash)
        return fit_path_join("", name);
    struct buffer folder = {0};
    put(&folder, beside, (size_t)(slash - beside) + 1);
    char *path = folder.failed ? NULL : fit_path_join(folder.text, name);
    free(folder.text);
    return path;
}

enum fit_status fit_path_resolve(const char *written, const char *beside, char **path,
                                 struct fit_error *err)
{
    struct buffer b = {0};
    *path = NULL;
    enum fit_status st = expand(written, &b, err);
    if (st != FIT_OK)
        goto done;
    char *near = join_beside(beside, b.text);
    if (!near) {
        st = fit_no_memory(err, NULL);
        goto done;
    }
    if (!fit_path_exists(near) && fit_path_exists(b.text)) {
        free(near);
        near = b.text;
        b.text = NULL;
    }
    *path = near;
done:
    free(b.text);
    return st;
}

void fit_path_meant(const char *path, char *text, size_t size)
{
    char folder[1024] = ".", best[256] = "";
    struct fit_unit unit;
    if (!strchr(path, '.') && fit_unit_parse(path, &unit) && !fit_path_exists(path)) {
        snprintf(text, size, "; a number and its unit are one word, as in \"200 um\"");
        return;
    }
    const char *name = text_file_name(path);
    if (name > path)
        snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    struct nearest near = {.name = name};
    DIR *d = fit_path_exists(path) ? NULL : opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        const char *before = near.best;
        if (e->d_name[0] != '.')
            nearest_offer(&near, e->d_name);
        if (near.best != before) {
            snprintf(best, sizeof best, "%s", e->d_name);
            near.best = best; /* of a folder entry that lives on */
        }
    }
    if (d)
        closedir(d);
    snprintf(text, size, "%s%s%s", *best ? "; did you mean '" : "", best, *best ? "'?" : "");
}

enum fit_status fit_path_missing(const char *path, struct fit_error *err)
{
    char meant[300];
    const char *what = regular_what(path);
    if (what)
        return fit_fail(err, FIT_ERR_IO, "%s: is %s, not a file; write what comes out of it into a file, and name that",
                        path, what);
    fit_path_meant(path, meant, sizeof meant);
    return fit_fail(err, FIT_ERR_IO, "%s: no such file, or no permission to read it%s", path, meant);
}
