/* store.c -- files of records, checked on reading. */
#include "imaging/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "common/unique.h"

static const char magic[8] = "hgsurv1";

struct header {
    char magic[8];
    uint64_t nterm, npixel;
};

static size_t record_size(const struct fit_store *s)
{
    return sizeof(struct fit_point) + (s->nterm + s->npixel) * sizeof(double) + SHA256_BYTES;
}

static void checksum(const void *record, size_t n, unsigned char digest[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, record, n - SHA256_BYTES);
    sha256_final(&h, digest);
}

static int add_stored(struct fit_store *s, const char *record, const char *file, uint64_t at)
{
    struct fit_stored x = {.file = fit_arena_string(&s->arena, file),
                           .term = fit_take_copy(&s->arena, record + sizeof x.point, s->nterm, sizeof *x.term),
                           .image_at = at + sizeof x.point + s->nterm * sizeof(double)};
    memcpy(&x.point, record, sizeof x.point);
    struct fit_stored *list = fit_take_more(&s->arena, s->stored, s->n, sizeof *list);
    if (!list || s->arena.failed)
        return 0;
    s->stored = list;
    s->stored[s->n++] = x;
    return 1;
}

/* The records of a file; those of other surveys are skipped. */
static enum fit_status read_file(struct fit_store *s, const char *path, struct fit_error *err)
{
    const size_t size = record_size(s);
    FIT_OWNED char *record = malloc(size);
    struct header h;
    FILE *f = fopen(path, "rb");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (record && fread(&h, sizeof h, 1, f) == 1 && memcmp(h.magic, magic, sizeof magic) == 0 && h.nterm == s->nterm &&
        h.npixel == s->npixel)
        for (uint64_t at = sizeof h; fread(record, size, 1, f) == 1; at += size) {
            unsigned char digest[SHA256_BYTES];
            checksum(record, size, digest);
            if (memcmp(digest, record + size - SHA256_BYTES, SHA256_BYTES) == 0 && !add_stored(s, record, path, at))
                break;
        }
    fclose(f);
    return record && !s->arena.failed ? FIT_OK : fit_no_memory(err, path);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct fit_stored *)a)->point.key, ((const struct fit_stored *)b)->point.key);
}

enum fit_status fit_store_open(struct fit_store *s, const char *folder, size_t nterm, size_t npixel,
                               struct fit_error *err)
{
    *s = (struct fit_store){.nterm = nterm, .npixel = npixel, .fd = -1};
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    unsigned made;
    enum fit_status status = fit_output_folder(folder, &made, err);
    if (status != FIT_OK)
        return status;
    DIR *d = opendir(folder);
    if (!d)
        return fit_fail(err, FIT_ERR_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    for (struct dirent *e; status == FIT_OK && (e = readdir(d)) != NULL;)
        if (unique_is_name(e->d_name, "points.", ".bin")) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            status = read_file(s, path, err);
        }
    closedir(d);
    if (s->n)
        qsort(s->stored, s->n, sizeof *s->stored, by_key);
    return status;
}

const struct fit_stored *fit_store_find(const struct fit_store *s, const char *key)
{
    struct fit_stored wanted = {.term = NULL};
    snprintf(wanted.point.key, sizeof wanted.point.key, "%s", key);
    return s->n ? bsearch(&wanted, s->stored, s->n, sizeof wanted, by_key) : NULL;
}

enum fit_status fit_store_image(const struct fit_store *s, const struct fit_stored *stored, double *image,
                                struct fit_error *err)
{
    const size_t size = s->npixel * sizeof *image;
    const int fd = open(stored->file, O_RDONLY | O_CLOEXEC);
    const int ok = fd >= 0 && pread(fd, image, size, (off_t)stored->image_at) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    return ok ? FIT_OK : fit_fail(err, FIT_ERR_IO, "cannot read an image of %s", stored->file);
}

/* The file of this process. */
static enum fit_status own_file(struct fit_store *s, struct fit_error *err)
{
    char id[UNIQUE_ID], path[2048];
    struct header h = {.nterm = s->nterm, .npixel = s->npixel};
    memcpy(h.magic, magic, sizeof magic);
    unique_id(id);
    snprintf(path, sizeof path, "%s/points.%s.bin", s->folder, id);
    s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (s->fd < 0 || write(s->fd, &h, sizeof h) != (ssize_t)sizeof h)
        return fit_fail(err, FIT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return FIT_OK;
}

enum fit_status fit_store_add(struct fit_store *s, const struct fit_point *point, const double *term,
                              const double *image, struct fit_error *err)
{
    const size_t size = record_size(s);
    FIT_OWNED char *record = calloc(1, size);
    const enum fit_status status = s->fd < 0 ? own_file(s, err) : FIT_OK;
    if (!record)
        return fit_no_memory(err, s->folder);
    if (status != FIT_OK)
        return status;
    memcpy(record, point, sizeof *point);
    memcpy(record + sizeof *point, term, s->nterm * sizeof *term);
    memcpy(record + sizeof *point + s->nterm * sizeof *term, image, s->npixel * sizeof *image);
    checksum(record, size, (unsigned char *)record + size - SHA256_BYTES);
    if (write(s->fd, record, size) != (ssize_t)size)
        return fit_fail(err, FIT_ERR_IO, "cannot write to %s: %s", s->folder, strerror(errno));
    return FIT_OK;
}

void fit_store_close(struct fit_store *s)
{
    if (s->fd >= 0)
        close(s->fd);
    fit_arena_free(&s->arena);
    *s = (struct fit_store){.fd = -1};
}
