/* batch_others.c -- fits in the output folder of `batch` that are not in the list of this command: those of other
 * tasks of an array, or of an earlier command with other files. They keep their rows in the table.
 *
 * Each finished fit leaves batch.row in its folder: exit status, q, data file and key, one per line. The name of the
 * row is that of the folder. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"

#include "base/output.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char NAME[] = "batch.row";

enum fit_status batch_row_write(const struct batch_job *j, struct fit_error *err)
{
    char path[FRONT_PATH], text[FRONT_PATH];
    snprintf(path, sizeof path, "%s/%s", j->folder, NAME);
    const int n = snprintf(text, sizeof text, "%d\n%.17g\n%s\n%s\n", j->code, j->q, j->file, j->key);
    if (n < 0 || (size_t)n >= sizeof text)
        return fit_fail(err, FIT_ERR_IO, "%.80s...: the path is too long", j->file);
    return fit_output_write(path, text, (size_t)n, err);
}

/* Reads a row into *j (file, q, code); 0: it is missing or invalid. */
static int read_row(const char *path, struct batch_job *j)
{
    char code[32] = "", q[64] = "", file[FRONT_PATH] = "", key[80] = "", *end;
    FILE *f = fopen(path, "r");
    const int ok = f && fgets(code, sizeof code, f) && fgets(q, sizeof q, f) && fgets(file, sizeof file, f);
    if (ok && fgets(key, sizeof key, f)) /* earlier versions had none */
        snprintf(j->key, sizeof j->key, "%.64s", key);
    if (f)
        fclose(f);
    if (!ok)
        return 0;
    file[strcspn(file, "\n")] = '\0';
    j->code = (int)strtol(code, &end, 10);
    j->q = strtod(q, NULL);
    j->file = end == code ? NULL : strdup(file);
    return j->file != NULL;
}

int batch_has_failed(struct batch_job *job)
{
    char path[FRONT_PATH + 64];
    struct batch_job told = {.code = -1};
    snprintf(path, sizeof path, "%s/%s", job->folder, NAME);
    if (!read_row(path, &told))
        return 0;
    const int interrupted = told.code > 128; /* by a signal, or by the limit of its job */
    const int failed = told.code > 0 && told.code != 2 && !interrupted && strncmp(told.key, job->key, 64) == 0;
    free(told.file);
    if (failed)
        job->code = told.code;
    return failed;
}

static void free_other(struct batch_job *j)
{
    if (j->has_result)
        front_result_free(&j->result);
    free(j->name);
    free(j->file);
    free(j->folder);
    *j = (struct batch_job){0};
}

/* The fit of this folder, at the end of the list. */
static enum fit_status add(struct batch *b, const char *name, struct fit_error *err)
{
    char path[FRONT_PATH + 64];
    struct batch_job j = {.code = -1};
    struct fit_error ignored;
    snprintf(path, sizeof path, "%s/%s/%s", b->folder, name, NAME);
    if (!read_row(path, &j))
        return FIT_OK;
    path[strlen(path) - strlen(NAME) - 1] = '\0';
    struct batch_job *list = realloc(b->other, (b->nother + 1) * sizeof *list);
    b->other = list ? list : b->other;
    j.name = strdup(name);
    j.folder = strdup(path);
    if (!list || !j.name || !j.folder) {
        free_other(&j);
        return fit_no_memory(err, NULL);
    }
    if (j.code == 0 || j.code == 2)
        j.has_result = front_result_read(j.folder, &j.result, &ignored) == FIT_OK;
    list[b->nother++] = j;
    return FIT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct batch_job *)a)->name, ((const struct batch_job *)b)->name);
}

void batch_others_free(struct batch *b)
{
    for (size_t k = 0; k < b->nother; k++)
        free_other(&b->other[k]);
    free(b->other);
    b->other = NULL;
    b->nother = 0;
}

enum fit_status batch_others(struct batch *b, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    batch_others_free(b);
    DIR *d = opendir(b->folder);
    if (!d)
        return FIT_OK;
    for (struct dirent *e; st == FIT_OK && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && strlen(e->d_name) < 512 && !batch_has_name(b, e->d_name))
            st = add(b, e->d_name, err);
    closedir(d);
    if (b->nother)
        qsort(b->other, b->nother, sizeof *b->other, by_name);
    return st;
}
