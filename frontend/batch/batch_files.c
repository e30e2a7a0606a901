/* batch_files.c -- the fits of a list: the data files that are named, each as a whole or for every wavevector; which of
 * them are named twice, and which are none. */
#define _XOPEN_SOURCE 700
#include "frontend/batch/batch.h"

#include "base/paths.h"
#include "base/units.h"
#include "common/text.h"
#include "input/source.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double same_q = 1e-9; /* relative: matrices of one ring */

static struct batch_job *add(struct batch *b, const char *file, double q)
{
    struct batch_job *list = realloc(b->job, (b->n + 1) * sizeof *list);
    if (!list)
        return NULL;
    b->job = list;
    list += b->n++;
    *list = (struct batch_job){.q = q, .code = -1, .claim = -1, .file = strdup(file)};
    return list->file ? list : NULL;
}

enum { MOST_AXES = 8 };

/* Matrices and axes by name, "--dataset PATH --columns q=PATH,t=PATH"; text holds the names. */
static struct fit_source_wish wish_of(const struct batch *b, struct fit_config_column axis[MOST_AXES], char *text,
                                      size_t size)
{
    struct fit_source_wish wish = {.dataset = batch_option(b, "dataset"), .axis = axis};
    const char *columns = batch_option(b, "columns");
    snprintf(text, size, "%s", columns ? columns : "");
    for (char *word = text, *next; *word && wish.naxis < MOST_AXES; word = next) {
        next = word + strcspn(word, ",");
        next += *next == ',' ? (*next = 0, 1) : 0;
        char *equal = strchr(word, '=');
        if (!equal)
            continue; /* the fitter will report the error */
        *equal = '\0';
        axis[wish.naxis++] = (struct fit_config_column){.role = word, .source = equal + 1};
    }
    return wish;
}

/* One job for every ring of the file. */
static enum fit_status add_rings(struct batch *b, const char *file, struct fit_error *err)
{
    struct fit_source *src = NULL;
    struct fit_config_column axis[MOST_AXES];
    char text[1024];
    const struct fit_source_wish wish = wish_of(b, axis, text, sizeof text);
    enum fit_status st = fit_source_open(file, &wish, &src, err);
    for (size_t k = 0; st == FIT_OK && k < src->nmatrix; k++) {
        int seen = isnan(src->matrix[k].q);
        for (size_t m = 0; m < k; m++)
            seen |= fabs(src->matrix[m].q - src->matrix[k].q) <= same_q * fabs(src->matrix[k].q);
        if (!seen && !add(b, file, src->matrix[k].q))
            st = fit_no_memory(err, NULL);
    }
    fit_source_close(src);
    return st;
}

static enum fit_status add_file(struct batch *b, const char *file, const char *q,
                                struct fit_error *err)
{
    if (!q)
        return add(b, file, NAN) ? FIT_OK : fit_no_memory(err, NULL);
    if (strcmp(q, "all") == 0)
        return add_rings(b, file, err);
    while (*q) {
        char one[64];
        double x = NAN;
        const size_t n = strcspn(q, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, q);
        const enum fit_quantity kind = fit_quantity_parse(one, fit_units_of("q"), &x);
        if ((kind != FIT_QUANTITY_BARE && kind != FIT_QUANTITY_CONVERTED) || !(x > 0) || !isfinite(x))
            return fit_fail(err, FIT_ERR_USAGE, "--q: '%s' is not a list of wavevectors in %s, nor `all`", q,
                            fit_units_of("q"));
        if (!add(b, file, x))
            return fit_no_memory(err, NULL);
        q += n + (q[n] == ',');
    }
    return FIT_OK;
}

/* The data file that the configuration names. */
static enum fit_status add_own(struct front *f, struct batch *b, const char *q, struct fit_error *err)
{
    char *file = NULL, *folder = NULL;
    enum fit_status st = front_config_places(b->config, &file, &folder, err);
    if (st == FIT_OK)
        st = file ? add_file(b, file, q, err)
                  : fit_fail(err, FIT_ERR_USAGE, "batch: %s names no data file; name some after it", b->config);
    if (st == FIT_OK && !q && !b->quiet)
        fprintf(f->err, "%s: note: no data files are named; that of %s, %s, is the list\n", f->name, b->config, file);
    free(file);
    free(folder);
    return st;
}

static enum fit_status add_files(struct front *f, const struct front_args *a, struct batch *b, struct fit_error *err)
{
    const char *q = option_value(&a->own, "q");
    enum fit_status st = FIT_OK;
    const size_t first = b->cli.config ? 0 : 1; /* word 0 is the configuration */
    for (size_t k = first; k < b->cli.nword && st == FIT_OK; k++)
        st = add_file(b, b->cli.word[k], q, err);
    return st == FIT_OK && b->cli.nword <= first ? add_own(f, b, q, err) : st;
}

/* ---- named twice ----------------------------------------------------------------------------- */

/* A fit, with the path of its file without links, "." and "..". */
struct place {
    char *path;
    double q;
    int is_link; /* its name, which then is not that of the fit */
    size_t job;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int paths = strcmp(x->path, y->path);
    if (paths || x->q < y->q || x->q > y->q)
        return paths ? paths : x->q < y->q ? -1 : 1;
    return x->is_link != y->is_link ? x->is_link - y->is_link : x->job < y->job ? -1 : 1;
}

static int is_same(const struct place *x, const struct place *y)
{
    return strcmp(x->path, y->path) == 0 && !(x->q < y->q) && !(x->q > y->q);
}

static void tell_twice(struct front *f, const struct batch *b, const struct place *first, const struct place *again,
                       size_t n)
{
    const char *one = b->job[first->job].file, *other = b->job[again->job].file;
    char q[40] = "", also[FRONT_PATH] = "", more[40] = "";
    if (!isnan(first->q))
        snprintf(q, sizeof q, " at q = %.6g", first->q);
    if (strcmp(one, other) != 0)
        snprintf(also, sizeof also, ", also as %s", other);
    if (n > 1)
        snprintf(more, sizeof more, ", as are %zu more", n - 1);
    fprintf(f->err, "%s: note: %s%s is in the list twice%s%s; each is fitted once\n", f->name, one, q, also, more);
}

/* Removes the fits without a file. */
static void close_gaps(struct batch *b)
{
    size_t n = 0;
    for (size_t k = 0; k < b->n; k++)
        if (b->job[k].file)
            b->job[n++] = b->job[k];
    b->n = n;
}

/* Keeps one of the fits of a file (and q), the first, or the first that is not named by a link, and says so. Hard links
 * are files of their own. */
static void drop_twins(struct front *f, struct batch *b, struct place *list)
{
    const struct place *one = NULL, *other = NULL;
    size_t n = 0;
    qsort(list, b->n, sizeof *list, by_place);
    for (size_t first = 0, k = 1; k < b->n; k++) {
        if (!is_same(&list[first], &list[k])) {
            first = k;
            continue;
        }
        if (n++ == 0 || list[k].job < other->job) {
            one = &list[first];
            other = &list[k];
        }
    }
    if (n && !b->quiet)
        tell_twice(f, b, one, other, n);
    for (size_t first = 0, k = 1; k < b->n; k++)
        if (!is_same(&list[first], &list[k])) {
            first = k;
        } else {
            free(b->job[list[k].job].file);
            b->job[list[k].job].file = NULL;
        }
    close_gaps(b);
}

static enum fit_status find_twins(struct front *f, struct batch *b, struct fit_error *err)
{
    const size_t n = b->n;
    struct place *list = calloc(n + 1, sizeof *list);
    struct stat s;
    int good = list != NULL;
    for (size_t k = 0; good && k < n; k++) {
        char *path = realpath(b->job[k].file, NULL);
        const int is_link = lstat(b->job[k].file, &s) == 0 && S_ISLNK(s.st_mode);
        list[k] = (struct place){path ? path : strdup(b->job[k].file), b->job[k].q, is_link, k};
        good = list[k].path != NULL;
    }
    if (good && n)
        drop_twins(f, b, list);
    for (size_t k = 0; list && k < n; k++)
        free(list[k].path);
    free(list);
    return good ? FIT_OK : fit_no_memory(err, NULL);
}

enum fit_status batch_files(struct front *f, const struct front_args *a, struct batch *b, struct fit_error *err)
{
    const enum fit_status st = add_files(f, a, b, err);
    if (st == FIT_OK && !b->n)
        return fit_fail(err, FIT_ERR_DATA, "--q all: no file of the list says its wavevectors; leave --q out");
    return st == FIT_OK ? find_twins(f, b, err) : st;
}

/* ---- files that are none --------------------------------------------------------------------- */

/* A pattern of the shell that matches nothing, or that it has not seen. */
static enum fit_status no_match(const char *pattern, struct fit_error *err)
{
    glob_t found;
    const size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n ? fit_fail(err, FIT_ERR_IO,
                        "%s: a pattern, not a file; without quotes the shell replaces it by the files it matches, here"
                        " %zu", pattern, n)
             : fit_fail(err, FIT_ERR_IO, "%s: no file matches this pattern", pattern);
}

/* Not a file that may have vanished since the list was made: a pattern. */
static int is_pattern(const char *file)
{
    return strpbrk(file, "*?[") && access(file, F_OK) != 0;
}

static enum fit_status look_at(const char *file, const struct batch *b, struct fit_error *err)
{
    struct stat s;
    if (access(file, R_OK) != 0)
        return is_pattern(file) ? no_match(file, err) : fit_path_missing(file, err);
    if (stat(file, &s) == 0 && S_ISDIR(s.st_mode))
        return fit_fail(err, FIT_ERR_IO, "%s: is a folder; name the files in it, as %s%s*.h5", file, file,
                        text_ends_with(file, "/") ? "" : "/");
    if (text_ends_with(file, ".yaml") || text_ends_with(file, ".yml"))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: a second configuration, after %s; batch takes one, and data files behind it", file,
                        b->config);
    return text_ends_with(file, ".lua")
               ? fit_fail(err, FIT_ERR_USAGE, "%s: a model, not a data file; --model %s", file, file)
               : FIT_OK;
}

enum fit_status batch_files_exist(const struct batch *b, struct fit_error *err)
{
    struct fit_error other;
    size_t bad = 0, n = 0;
    for (size_t k = 0; k < b->n; k++) {
        if (k && strcmp(b->job[k].file, b->job[k - 1].file) == 0) /* another q of it */
            continue;
        n++;
        if (b->is_part && !is_pattern(b->job[k].file)) /* a share fails at it, as at bad data */
            continue;
        bad += look_at(b->job[k].file, b, bad ? &other : err) != FIT_OK;
    }
    if (bad > 1) {
        const size_t at = strlen(err->message);
        snprintf(err->message + at, sizeof err->message - at, "; and %zu more of %zu files", bad - 1, n);
    }
    return bad ? err->status : FIT_OK;
}
