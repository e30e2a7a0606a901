/* table_curves.c -- see table_curves.h.  Rows are sorted by the column, stably; a curve is a stretch of that order. */
#include "input/table_curves.h"

#include "input/table_impl.h"
#include "math/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_table_curves_private {
    const struct fit_kernel *kernel;
    struct fit_table *table;
    struct fit_measurement *whole; /* of the file: its name, settings, notes; without data */
    int *from;                     /* columns of the table, as fit_table_match() gives them */
    size_t *row;                   /* nrow: curve after curve, the rows of each in their order */
    size_t *first, *count;         /* n */
    struct fit_arena storage;
};

void fit_table_curves_free(struct fit_table_curves *c)
{
    if (!c)
        return;
    if (c->private_) {
        fit_table_free(c->private_->table);
        fit_measurement_free(c->private_->whole);
        fit_arena_free(&c->private_->storage);
    }
    free(c->private_);
    free(c);
}

/* The stretches of equal values found, before they are ordered. */
struct stretch {
    size_t first, count, row; /* row: the first of them in the file */
};

static int by_row(const void *a, const void *b)
{
    const size_t x = ((const struct stretch *)a)->row, y = ((const struct stretch *)b)->row;
    return (x > y) - (x < y);
}

/* fit_sort_index() may exchange equal values: restores the order of their rows. */
static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static enum fit_status find_curves(struct fit_table_curves *c, const double *at, struct fit_error *err)
{
    struct fit_table_curves_private *p = c->private_;
    const size_t n = p->table->nrow;
    struct stretch *s = fit_take(&p->storage, n, sizeof *s);
    p->row = fit_take(&p->storage, n, sizeof *p->row);
    p->first = fit_take(&p->storage, n, sizeof *p->first);
    p->count = fit_take(&p->storage, n, sizeof *p->count);
    c->at = fit_take(&p->storage, n, sizeof *c->at);
    if (p->storage.failed)
        return fit_no_memory(err, p->whole->file);
    fit_sort_index(n, at, p->row);
    for (size_t k = 0, end; k < n; k = end, c->n++) {
        for (end = k + 1; end < n && !(at[p->row[end]] > at[p->row[k]]);)
            end++;
        qsort(p->row + k, end - k, sizeof *p->row, by_number);
        s[c->n] = (struct stretch){k, end - k, p->row[k]};
    }
    qsort(s, c->n, sizeof *s, by_row);
    for (size_t k = 0; k < c->n; k++) {
        p->first[k] = s[k].first;
        p->count[k] = s[k].count;
        c->at[k] = at[s[k].row];
    }
    return FIT_OK;
}

static enum fit_status find_column(const struct fit_table_curves_private *p, const char *column, const double **at,
                                   struct fit_error *err)
{
    const struct fit_table *t = p->table;
    const int k = fit_table_find(t, column);
    if (k < 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: has no column '%s', by which curves are told apart", p->whole->file,
                        column);
    for (size_t i = 0; i < p->kernel->ncolumn; i++)
        if (p->from[i] == k)
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: the column '%s' is %s of the model; name one that tells curves apart", p->whole->file,
                            column, p->kernel->column[i].name);
    for (size_t r = 0; r < t->nrow; r++)
        if (!isfinite(t->column[k][r]))
            return fit_fail(err, FIT_ERR_DATA, "%s: %s %zu: %s is %g; every row has the number of its curve",
                            p->whole->file, t->line ? "line" : "row", t->line ? t->line[r] : r + 1, column,
                            t->column[k][r]);
    *at = t->column[k];
    return FIT_OK;
}

enum fit_status fit_table_curves_read(const char *file, const struct fit_config_table *cfg,
                                      const struct fit_kernel *kernel, const double *setting, const char *column,
                                      struct fit_table_curves **out, struct fit_error *err)
{
    *out = NULL;
    if (kernel->space != FIT_ROWS || kernel->naxis)
        return fit_fail(err, FIT_ERR_CONFIG,
                        kernel->naxis ? "%s has an axis, whose curves are fitted together; --sequence angle fits every "
                                        "one alone as well"
                                      : "%s is fitted to pairs of frames; curves are those of a table",
                        kernel->name);
    struct fit_table_curves *c = calloc(1, sizeof *c);
    struct fit_table_curves_private *p = calloc(1, sizeof *p);
    const double *at = NULL;
    if (!c || !p) {
        free(c);
        free(p);
        return fit_no_memory(err, file);
    }
    c->private_ = p;
    p->kernel = kernel;
    enum fit_status st = fit_table_open(file, cfg, kernel, setting, &p->whole, &p->table, &p->from, err);
    if (st == FIT_OK)
        st = find_column(p, column, &at, err);
    if (st == FIT_OK)
        st = find_curves(c, at, err);
    if (st == FIT_OK)
        c->notes = &p->whole->notes;
    if (st == FIT_OK)
        *out = c;
    else
        fit_table_curves_free(c);
    return st;
}

/* The rows of curve k as a table of their own. */
static struct fit_table *cut(const struct fit_table_curves_private *p, size_t k)
{
    const struct fit_table *t = p->table;
    const size_t n = p->count[k], *row = p->row + p->first[k];
    struct fit_table *part = fit_table_new(n, t->ncolumn);
    if (part && t->line)
        part->line = fit_take(&part->storage_, n, sizeof *part->line);
    if (!part || part->storage_.failed) {
        fit_table_free(part);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < t->ncolumn; c++)
            part->column[c][i] = t->column[c][row[i]];
        if (t->line)
            part->line[i] = t->line[row[i]];
    }
    return part;
}

enum fit_status fit_table_curve(const struct fit_table_curves *c, size_t k, struct fit_measurement **out,
                                struct fit_error *err)
{
    const struct fit_table_curves_private *p = c->private_;
    const size_t nsetting = p->kernel->nsetting;
    struct fit_measurement *m = calloc(1, sizeof *m);
    struct fit_table *t = cut(p, k);
    enum fit_status st = m && t ? FIT_OK : fit_no_memory(err, p->whole->file);
    *out = NULL;
    if (st == FIT_OK) {
        m->file = fit_arena_string(&m->storage_, p->whole->file);
        m->layout = "table";
        m->setting = fit_take_copy(&m->storage_, p->whole->setting, nsetting, sizeof *m->setting);
        st = m->storage_.failed ? fit_no_memory(err, p->whole->file) : FIT_OK;
    }
    if (st == FIT_OK)
        st = fit_table_dataset(t, p->kernel, p->from, m, err);
    fit_table_free(t);
    if (st == FIT_OK)
        *out = m;
    else
        fit_measurement_free(m);
    return st;
}
