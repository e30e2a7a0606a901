/* virtual.c -- checks the sources of a virtual dataset before libhdf5 reads them. See library.h.
 *
 * libhdf5 returns the fill value for sources that it cannot open, whether they are missing, damaged or of a newer
 * version. Every source is therefore opened here first, by this room's reader and by libhdf5. A missing source is an
 * error, unless the writer has declared a fill value for that case.
 *
 * Names may contain %b, the number of a block (H5Pset_virtual): they stand for all existing sources, from 0 on.
 */
#include "hdf5/external.h"
#include "hdf5/h5_writer.h"
#include "hdf5/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8, MOST = 1 << 17 /* sources */, NAME = 1024 };

static const struct fit_h5_external how = {"holds a virtual dataset with values of", "HDF5_VDS_PREFIX"};

static enum fit_status look_at_sources(struct fit_h5_bytes *f, hid_t set, const char *base, int depth,
                                       struct fit_h5_sources *s, struct fit_error *err);

/* Replaces %b by the number, %% by %; 1: there was a %b. */
static int expand(const char *name, unsigned long block, char *to, size_t size)
{
    size_t at = 0;
    int found = 0;
    for (; *name && at + 24 < size; name++) {
        if (name[0] == '%' && name[1] == 'b') {
            at += (size_t)snprintf(to + at, size - at, "%lu", block);
            found = 1;
            name++;
        } else {
            name += name[0] == '%' && name[1] == '%';
            to[at++] = *name;
        }
    }
    to[at] = 0;
    return found;
}

static void count(struct fit_h5_sources *s, const char *file)
{
    const size_t at = strlen(s->text), n = strlen(file);
    const char *before = strstr(s->text, file);
    s->n++;
    if (before && (before == s->text || before[-1] == ' ') && (before[n] == ',' || !before[n]))
        return;
    if (at + n + 8 < sizeof s->text)
        snprintf(s->text + at, sizeof s->text - at, "%s%s", at ? ", " : "", file);
    else if (at < 4 || strcmp(s->text + at - 3, "...") != 0)
        snprintf(s->text + (at + 6 < sizeof s->text ? at : sizeof s->text - 6), 6, ", ...");
}

/* An existing source; base: its file as libhdf5 opens it. */
static enum fit_status look_at_set(struct fit_h5_bytes *f, const struct fit_h5_header *h, const char *base,
                                   const char *path, int depth, struct fit_h5_sources *s, struct fit_error *err)
{
    struct fit_h5_dataset d;
    char reason[200];
    enum fit_status st = fit_h5_dataset_read(h, &d, err);
    const int refused = st == FIT_ERR_UNSUPPORTED, is_virtual = refused && d.storage == FIT_H5_VIRTUAL;
    if (st == FIT_OK || refused)
        fit_h5_dataset_free(&d);
    else
        return st;
    hid_t file = fit_h5_library_file(base), set = file >= 0 ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0) {
        fit_h5_reason(reason, sizeof reason);
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s, a source of a virtual dataset, cannot be read by %s: %s", base, path,
                      fit_h5_library_name(), reason);
    } else {
        st = fit_h5_library_filters(f, set, path, err);
    }
    if (st == FIT_OK && is_virtual)
        st = depth ? look_at_sources(f, set, base, depth - 1, s, err)
                   : fit_fail(err, FIT_ERR_DATA, "%s: virtual datasets lead to one another at %s", base, path);
    if (set >= 0)
        H5Dclose(set);
    if (file >= 0)
        H5Fclose(file);
    return st;
}

/* An existing file that cannot be opened is another kind of error than a missing one. */
static enum fit_status open_source(const struct fit_h5_bytes *f, const char *name, struct fit_h5_bytes **g,
                                   struct fit_error *err)
{
    struct fit_error why = {.status = FIT_OK};
    const enum fit_status st = fit_h5_file_open(name, g, &why);
    return st == FIT_OK || st == FIT_ERR_MEMORY
               ? st
               : fit_fail(err, FIT_ERR_DATA, "%s%s%s; a virtual dataset of %s has values of it",
                          st == FIT_ERR_UNSUPPORTED ? name : "", st == FIT_ERR_UNSUPPORTED ? ": " : "", why.message,
                          f->name);
}

/* *there: 0 when the file or the dataset is missing. */
static enum fit_status look_at_source(struct fit_h5_bytes *f, const char *base, const char *file, const char *path,
                                      int depth, struct fit_h5_sources *s, int *there, struct fit_error *err)
{
    struct fit_h5_bytes *g = NULL;
    struct fit_h5_header h = {0};
    struct fit_h5_at at;
    enum fit_h5_end end = FIT_H5_NOTHING;
    char *name = NULL;
    enum fit_status st = FIT_OK;
    if (strcmp(file, ".") == 0) {
        g = fit_h5_bytes_keep(f);
    } else {
        st = fit_h5_external_path(f, file, base, &how, &name, err);
        *there = st != FIT_ERR_IO;
        if (!*there)
            return FIT_OK;
        if (st == FIT_OK && (st = open_source(f, name, &g, err)) == FIT_OK)
            g->first = f->first;
    }
    if (st == FIT_OK && (st = fit_h5_find(g, path, &end, &at, err)) == FIT_OK && end == FIT_H5_OBJECT &&
        (st = fit_h5_header_read(at.f, at.address, &h, err)) == FIT_OK)
        st = fit_h5_is_dataset(&h) ? look_at_set(g, &h, name ? name : base, path, depth, s, err)
                                   : fit_fail(err, FIT_ERR_DATA, "%s: %s is no dataset", g->name, path);
    *there = st != FIT_OK || end == FIT_H5_OBJECT;
    fit_h5_header_free(&h);
    fit_h5_bytes_close(g);
    free(name);
    return st;
}

/* All sources that the names of a mapping stand for. */
static enum fit_status look_at_mapping(struct fit_h5_bytes *f, const char *base, const char *const name[2], int depth,
                                       struct fit_h5_sources *s, struct fit_error *err)
{
    char file[NAME], path[NAME];
    enum fit_status st = FIT_OK;
    int there = 1, many = 1;
    for (unsigned long block = 0; many && there && st == FIT_OK; block++) {
        if (s->looked++ > MOST)
            return fit_fail(err, FIT_ERR_DATA, "%s: a virtual dataset of more than %d sources", f->name, (int)MOST);
        many = expand(name[0], block, file, sizeof file) | expand(name[1], block, path, sizeof path);
        st = look_at_source(f, base, file, path, depth, s, &there, err);
        if (st == FIT_OK && there)
            count(s, file);
        if (!there && block == 0 && s->missing++ == 0)
            snprintf(s->first_missing, sizeof s->first_missing, "%.90s in %.90s", path, file);
    }
    return st;
}

static enum fit_status look_at_sources(struct fit_h5_bytes *f, hid_t set, const char *base, int depth,
                                       struct fit_h5_sources *s, struct fit_error *err)
{
    hid_t made = H5Dget_create_plist(set);
    H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
    size_t n = 0;
    const size_t before = s->missing;
    char file[NAME], path[NAME];
    enum fit_status st = H5Pget_virtual_count(made, &n) < 0 ? fit_h5_damaged(f, "a virtual dataset", 0, err) : FIT_OK;
    for (size_t k = 0; k < n && st == FIT_OK; k++) {
        const ssize_t a = H5Pget_virtual_filename(made, k, file, sizeof file),
                      b = H5Pget_virtual_dsetname(made, k, path, sizeof path);
        st = a < 0 || b < 0 || a >= NAME || b >= NAME
                 ? fit_h5_damaged(f, "a virtual dataset", 0, err)
                 : look_at_mapping(f, base, (const char *const[2]){file, path}, depth, s, err);
    }
    H5Pfill_value_defined(made, &fill);
    H5Pclose(made);
    if (st == FIT_OK && s->missing > before && fill != H5D_FILL_VALUE_USER_DEFINED)
        st =
            fit_fail(err, FIT_ERR_IO,
                     "%s: a virtual dataset has values of %s, which is not there, and declares no fill value for that; "
                     "its sources belong beside the file, or into a folder of HDF5_VDS_PREFIX",
                     f->name, s->first_missing);
    return st;
}

enum fit_status fit_h5_virtual_sources(struct fit_h5_bytes *f, hid_t set, const char *base, struct fit_h5_sources *s,
                                       struct fit_error *err)
{
    *s = (struct fit_h5_sources){.n = 0};
    return look_at_sources(f, set, base, DEPTH, s, err);
}
