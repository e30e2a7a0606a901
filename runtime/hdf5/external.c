/* external.c -- files to which an HDF5 file refers. See external.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "hdf5/external.h"

#include "hdf5/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTED = 8 /* number of files with a note of their own */ };

enum fit_status fit_h5_file_open(const char *file, struct fit_h5_bytes **f, struct fit_error *err)
{
    enum { SHARED_TABLE = 0x0f, CACHE_IMAGE = 0x18 };
    struct fit_h5_header h;
    const struct fit_h5_message *m;
    enum fit_status st = fit_h5_bytes_open(file, f, err);
    if (st != FIT_OK || (*f)->extension == FIT_H5_NOWHERE)
        return st;
    fit_h5_walk(*f);
    if ((st = fit_h5_header_as_is(*f, (*f)->extension, &h, err)) == FIT_OK && fit_h5_message(&h, CACHE_IMAGE))
        st = fit_h5_refuse(err, "image of HDF5's cache, which opening it once for writing dissolves");
    if (st == FIT_OK && (m = fit_h5_message(&h, SHARED_TABLE)) != NULL) {
        struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
        fit_h5_take(&c, 1);
        (*f)->shared = fit_h5_take_address(*f, &c);
        (*f)->shared_lists = (unsigned)fit_h5_take(&c, 1);
    }
    fit_h5_header_free(&h);
    if (st == FIT_OK)
        return FIT_OK;
    fit_h5_bytes_close(*f);
    *f = NULL;
    return st;
}

/* ---- resolution of a name ------------------------------------------------------------------- */

/* The folder of a file, with a final '/'; "" for the working directory. For the caller to free. */
static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return strndup(file, slash ? (size_t)(slash - file) + 1 : 0);
}

/* 1 when a file, with symbolic links resolved, is in or below a folder. */
static int lies_below(const char *real, const char *folder)
{
    char *root = realpath(*folder ? folder : ".", NULL);
    const size_t n = root ? strlen(root) : 0;
    const int yes = root && (strcmp(root, "/") == 0 || (strncmp(real, root, n) == 0 && real[n] == '/'));
    free(root);
    return yes;
}

/* 1 for a name that stays below its starting folder. */
static int stays_below(const char *name)
{
    if (*name == '/')
        return 0;
    for (const char *part = name; *part; part += strspn(part, "/")) {
        const size_t n = strcspn(part, "/");
        if (n == 2 && part[0] == '.' && part[1] == '.')
            return 0;
        part += n;
    }
    return 1;
}

struct search {
    const struct fit_h5_bytes *f;
    const char *name;
    const char *variable; /* folders of the environment, or NULL */
    char *found;
    int outside, memory;
};

/* The next folder of a list separated by ':', for the caller to free; NULL after the last. */
static char *next_folder(const char **list)
{
    const size_t n = *list ? strcspn(*list, ":") : 0;
    if (!*list || !**list)
        return NULL;
    char *folder = strndup(*list, n);
    *list += n + (size_t)((*list)[n] == ':');
    return folder;
}

/* May the file be read, i.e. is it below the folder of the first file, or one of the environment? */
static int is_allowed(const struct search *s, const char *path)
{
    const struct fit_h5_bytes *first = s->f->first;
    char *real = realpath(path, NULL), *owner = realpath(first->name, NULL);
    char *named = folder_of(first->name), *behind = owner ? folder_of(owner) : NULL, *folder;
    int yes = real && named && behind && (lies_below(real, named) || lies_below(real, behind));
    const char *list = s->variable;
    while (real && !yes && (folder = next_folder(&list)) != NULL) {
        yes = *folder && lies_below(real, folder);
        free(folder);
    }
    free(real);
    free(owner);
    free(named);
    free(behind);
    return yes;
}

/* Takes folder/name if it exists; 1: the search is over. */
static int try(struct search *s, const char *folder, const char *name)
{
    const size_t n = folder ? strlen(folder) : 0;
    char *path = folder ? malloc(n + strlen(name) + 2) : NULL;
    if (!path)
        return s->memory = 1;
    sprintf(path, "%s%s%s", folder, n && folder[n - 1] != '/' ? "/" : "", name);
    if (access(path, F_OK) != 0) {
        free(path);
        return 0;
    }
    if (!stays_below(name) && !is_allowed(s, path)) {
        free(path);
        return s->outside = 1;
    }
    s->found = path;
    return 1;
}

static void look_for(struct search *s, const char *base)
{
    const char *name = s->name, *list = s->variable;
    char *folder, *real = base ? NULL : realpath(s->f->name, NULL);
    int over = *name == '/' && try(s, "", name);
    if (*name == '/')
        name = strrchr(name, '/') + 1;
    while (!over && (folder = next_folder(&list)) != NULL) {
        over = *folder && try(s, folder, name);
        free(folder);
    }
    for (int k = 0; k < 2 && !over; k++) {
        const char *beside = k == 0 ? (base ? base : s->f->name) : real;
        folder = beside ? folder_of(beside) : NULL;
        over = beside && *name && try(s, folder, name);
        free(folder);
    }
    free(real);
}

enum fit_status fit_h5_external_path(const struct fit_h5_bytes *f, const char *name, const char *base,
                                     const struct fit_h5_external *how, char **path, struct fit_error *err)
{
    struct search s = {.f = f, .name = name, .variable = getenv(how->variable)};
    if (*name)
        look_for(&s, base);
    *path = s.found;
    if (s.memory)
        return fit_no_memory(err, f->name);
    if (s.outside)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: %s %s, which lies outside of the folder of the file: it is not read; a symbolic link to it "
            "beside the file, or its folder in %s, allows it",
            f->name, how->what, name, how->variable);
    return s.found
               ? FIT_OK
               : fit_fail(err, FIT_ERR_IO,
                          "%s: %s %s, which is not there; it is looked for beside the file and in the folders of %s",
                          f->name, how->what, name, how->variable);
}

/* ---- links ----------------------------------------------------------------------------------- */

enum fit_status fit_h5_external_open(struct fit_h5_bytes *f, const char *name, struct fit_h5_bytes **to,
                                     struct fit_error *err)
{
    static const struct fit_h5_external link = {"links to", "HDF5_EXT_PREFIX"};
    struct fit_h5_bytes *first = f->first;
    struct fit_error why = {.status = FIT_OK};
    char *path;
    enum fit_status st = fit_h5_external_path(f, name, NULL, &link, &path, err);
    if (st != FIT_OK)
        return st;
    for (*to = first->linked; *to && strcmp((*to)->name, path) != 0; *to = (*to)->next)
        ;
    if (!*to && (st = fit_h5_file_open(path, to, &why)) == FIT_OK) {
        (*to)->first = first;
        (*to)->next = first->linked;
        first->linked = *to;
    }
    if (st == FIT_OK)
        fit_h5_walk(*to);
    else
        st = fit_fail(err, st == FIT_ERR_MEMORY ? st : FIT_ERR_DATA, "%s%s%s; %s links to it",
                      why.status == FIT_ERR_UNSUPPORTED ? path : "", why.status == FIT_ERR_UNSUPPORTED ? ": " : "",
                      why.message, f->name);
    free(path);
    return st;
}

void fit_h5_external_note(struct fit_h5_bytes *f)
{
    struct fit_h5_bytes *first = f->first;
    int told = 0;
    if (f == first || f->told)
        return;
    for (const struct fit_h5_bytes *l = first->linked; l; l = l->next)
        told += l->told;
    f->told = 1;
    if (told < NOTED)
        fit_notes_add(&first->notes, "%s: a link leads to %s, from which values are read", first->name, f->name);
    else if (told == NOTED)
        fit_notes_add(&first->notes, "%s: links lead to more files", first->name);
}
