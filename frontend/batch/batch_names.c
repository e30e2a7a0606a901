/* batch_names.c -- the names of fits: of their folders, and of their rows. That of the data file, without its ending;
 * with its folder, where files of other folders have the same; with q, and with a number where it is not the only one.
 *
 * Names are found by a hash table with open addressing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L),
 * of twice as many places as fits. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"

#include "base/paths.h"
#include "common/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The place of a name, or the empty one where it would be. FNV-1a: Fowler, Noll, Vo 1991. */
static const char **place_of(const struct batch *b, const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t k = (size_t)(hash % b->room);
    while (b->names[k] && strcmp(b->names[k], name) != 0)
        k = (k + 1) % b->room;
    return &b->names[k];
}

int batch_has_name(const struct batch *b, const char *name)
{
    return *place_of(b, name) != NULL;
}

/* "dir/a.b.h5" -> "a.b"; with its folder when `parent`.  "..", which leads out of the folder, becomes "__". */
static void stem(const char *file, int parent, char *out, size_t size)
{
    const char *name = text_file_name(file), *folder = file;
    const char *dot = strrchr(name, '.');
    const int n = (int)(dot && dot > name ? dot - name : (long)strlen(name));
    for (const char *c = file; name > file && c < name - 1; c++)
        folder = *c == '/' ? c + 1 : folder;
    if (parent && name > file && name - folder > 1)
        snprintf(out, size, "%.*s_%.*s", (int)(name - folder - 1), folder, n, name);
    else
        snprintf(out, size, "%.*s", n, name);
    if (strspn(out, ".") == strlen(out))
        memset(out, '_', strlen(out));
}

/* A file under the name that its fit would have. */
struct named {
    char stem[512];
    const char *file;
    size_t job;
};

static int by_stem(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int stems = strcmp(x->stem, y->stem);
    return stems ? stems : strcmp(x->file, y->file);
}

/* parent[k] <- 1: other files have the same name as that of job k, in other folders. */
static int find_ambiguous(const struct batch *b, unsigned char *parent)
{
    struct named *list = malloc((b->n + 1) * sizeof *list);
    for (size_t k = 0; list && k < b->n; k++) {
        stem(b->job[k].file, 0, list[k].stem, sizeof list[k].stem);
        list[k].file = b->job[k].file;
        list[k].job = k;
    }
    if (list && b->n)
        qsort(list, b->n, sizeof *list, by_stem);
    for (size_t from = 0, to; list && from < b->n; from = to) {
        for (to = from + 1; to < b->n && strcmp(list[to].stem, list[from].stem) == 0;)
            to++;
        for (size_t k = from; k < to; k++) /* the files of one name are in their order */
            parent[list[k].job] = strcmp(list[from].file, list[to - 1].file) != 0;
    }
    free(list);
    return list != NULL;
}

static enum fit_status name_all(struct batch *b, const unsigned char *parent, struct fit_error *err)
{
    for (size_t k = 0; k < b->n; k++) {
        struct batch_job *j = &b->job[k];
        char name[640], base[512];
        stem(j->file, parent[k], base, sizeof base);
        if (isnan(j->q))
            snprintf(name, sizeof name, "%s", base);
        else
            snprintf(name, sizeof name, "%s_q%.6g", base, j->q);
        const size_t n = strlen(name);
        for (int again = 2; batch_has_name(b, name); again++)
            snprintf(name + n, sizeof name - n, "_%d", again);
        j->name = strdup(name);
        j->folder = fit_path_join(b->folder, name);
        j->log = j->folder ? fit_path_join(j->folder, "batch.log") : NULL;
        if (!j->name || !j->log)
            return fit_no_memory(err, NULL);
        *place_of(b, name) = j->name;
    }
    return FIT_OK;
}

enum fit_status batch_name(struct batch *b, struct fit_error *err)
{
    unsigned char *parent = calloc(b->n + 1, 1);
    b->room = 2 * b->n + 1;
    b->names = calloc(b->room, sizeof *b->names);
    const enum fit_status st =
        parent && b->names && find_ambiguous(b, parent) ? name_all(b, parent, err) : fit_no_memory(err, NULL);
    free(parent);
    return st;
}
