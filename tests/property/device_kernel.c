/* device_kernel.c -- see device_kernel.h. */
#include "property/device_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/gpu_shape.h"

enum { MOST = 4096 };

static struct device_kernel now;

static void *put(const void *from, size_t bytes)
{
    void *b = fit_device_buffer(now.d, bytes);
    assert_non_null(b);
    if (from)
        assert_int_equal(fit_device_write(now.d, b, 0, from, bytes), 0);
    return b;
}

/* The items of a tile: strips of columns, or all rows. */
static size_t cut(const struct fit_layout *l, const struct fit_tile *t, long *item)
{
    size_t n = 0;
    for (size_t c = t->j0; !l->nrow && c < t->j1; c += FIT_GPU_COLUMNS, n++) {
        const size_t end = c + FIT_GPU_COLUMNS < t->j1 ? c + FIT_GPU_COLUMNS : t->j1;
        const long x[FIT_ITEM_NUMBERS] = {(long)t->i0, (long)t->i1, (long)t->j0, (long)t->j1, (long)t->i0,
                                          (long)t->i1, (long)c, (long)end, 0, 0};
        memcpy(item + n * FIT_ITEM_NUMBERS, x, sizeof x);
    }
    const long row[FIT_ITEM_NUMBERS] = {(long)t->i0, (long)t->i1, 0, 0, (long)t->i0, (long)t->i1, 0, 0, 0,
                                        (long)t->group};
    if (l->nrow)
        memcpy(item, row, sizeof row);
    return l->nrow ? 1 : n;
}

static void *fixed_of(const struct fit_layout *l)
{
    const size_t ng = l->ngroup, rows = (l->nrow + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    const size_t n = 1 + now.program->axes * ng + now.program->columns * rows;
    double *x = calloc(n, sizeof *x);
    x[0] = l->step;
    for (size_t a = 0; a < now.kernel->naxis; a++)
        memcpy(x + 1 + a * ng, l->coord[a], ng * sizeof *x);
    for (size_t c = 0; rows && c < now.kernel->ncolumn; c++)
        memcpy(x + 1 + now.program->axes * ng + c * rows, l->column[c], rows * sizeof *x);
    void *b = put(x, n * sizeof *x);
    free(x);
    return b;
}

/* As the last lane of the last row says. */
size_t device_kernel_doubles(const struct fit_layout *l, const struct fit_tile *t)
{
    size_t n = 0;
    for (size_t i = t->i0; !l->nrow && i < t->i1; i++)
        n += ((t->j1 + 7) / 8 - (t->j0 > i + 1 ? t->j0 : i + 1) / 8) * 8 * l->ngroup;
    return l->nrow ? (t->i1 + 7) / 8 * 8 - t->i0 : n;
}

struct call {
    const struct fit_layout *l;
    const double *ws, *lin, *adj;
    const struct fit_tile *t;
    long item[64 * FIT_ITEM_NUMBERS];
    size_t nitem, doubles;
    void *buffer[9];
};

static void begin(struct call *c)
{
    const size_t ng = c->l->ngroup, q = now.kernel->nlinear, nws = now.kernel->workspace(c->l);
    c->nitem = cut(c->l, c->t, c->item);
    c->doubles = device_kernel_doubles(c->l, c->t);
    const long shape[FIT_SHAPE_NUMBERS] = {(long)ng, (long)c->l->ntime, (long)c->l->nframe, (long)c->l->nrow,
                                           (long)c->nitem, c->t->w != NULL};
    const double none = 0;
    c->buffer[0] = put(shape, sizeof shape);
    c->buffer[1] = put(c->item, c->nitem * FIT_ITEM_NUMBERS * sizeof(long));
    c->buffer[2] = fixed_of(c->l);
    c->buffer[3] = put(c->ws, nws * sizeof(double));
    c->buffer[4] = c->lin && q ? put(c->lin, ng * q * sizeof(double)) : put(&none, sizeof none);
    c->buffer[5] = c->adj ? put(c->adj, ng * (1 + q * (q + 1) / 2) * sizeof(double)) : put(&none, sizeof none);
    c->buffer[6] = put(c->t->y, c->doubles * sizeof(double));
    c->buffer[7] = c->t->w ? put(c->t->w, c->doubles * sizeof(double)) : put(&none, sizeof none);
}

static void end(struct call *c)
{
    for (int k = 0; k < 8; k++)
        fit_device_release(now.d, c->buffer[k]);
}

/* out <- the results of a kind, each group `each` numbers behind the last; of one group for a table. */
static void take(struct call *c, enum fit_gpu_kind kind, size_t each, double *out)
{
    static double part[64 * 128 * 5], total[MOST];
    for (size_t k = 0; k < now.program->npass; k++) {
        const struct fit_gpu_pass *p = &now.program->pass[k];
        const size_t rows = p->groups && !c->l->nrow ? c->l->ngroup : 1, at = p->groups && c->l->nrow ? c->t->group : 0;
        const long shape[FIT_TOTAL_NUMBERS] = {(long)c->nitem};
        if (p->kind != kind)
            continue;
        c->buffer[8] = put(NULL, sizeof part);
        struct fit_device_call run = {p->name, p->plain, {c->nitem, rows, 1}, {NULL}, 9};
        memcpy(run.buffer, c->buffer, sizeof c->buffer);
        assert_int_equal(fit_device_run(now.module, &run), 0);
        struct fit_device_call sum = {"fit_gpu_total", NULL, {p->count, rows, 1}, {NULL}, 4};
        sum.buffer[0] = put(shape, sizeof shape);
        sum.buffer[1] = put(shape, sizeof shape);
        sum.buffer[2] = c->buffer[8];
        sum.buffer[3] = put(NULL, rows * p->count * sizeof(double));
        assert_int_equal(fit_device_run(now.module, &sum), 0);
        assert_int_equal(fit_device_read(now.d, sum.buffer[3], total, rows * p->count * sizeof(double)), 0);
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (at + r) * each + p->first, total + r * p->count, p->count * sizeof(double));
        fit_device_release(now.d, sum.buffer[0]);
        fit_device_release(now.d, sum.buffer[1]);
        fit_device_release(now.d, sum.buffer[3]);
        fit_device_release(now.d, c->buffer[8]);
    }
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    const size_t q = now.kernel->nlinear, each = q * (q + 1) / 2 + q + 1;
    struct call c = {.l = l, .ws = ws, .t = t};
    (void)scratch;
    memset(out, 0, l->ngroup * each * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_MOMENTS, each, out);
    end(&c);
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    const size_t q = now.kernel->nlinear, p = now.kernel->nparam, n = p * (p + 1) / 2 + p;
    struct call c = {.l = l, .ws = ws, .lin = lin, .t = t};
    (void)scratch;
    memset(out, 0, (n + l->ngroup * q * p) * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_NORMAL, n, out);
    take(&c, FIT_GPU_CROSS, q * p, out + n);
    end(&c);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct call c = {.l = l, .ws = ws, .lin = lin, .adj = adj, .t = t};
    (void)scratch;
    memset(out, 0, now.kernel->nparam * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_GRADIENT, now.kernel->nparam, out);
    end(&c);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct call c = {.l = l, .ws = ws, .lin = lin, .t = t};
    begin(&c);
    for (size_t k = 0; k < now.program->npass; k++) {
        const struct fit_gpu_pass *p = &now.program->pass[k];
        struct fit_device_call run = {p->name, p->plain, {c.nitem, l->nrow ? 1 : l->ngroup, 1}, {NULL}, 9};
        if (p->kind != FIT_GPU_VALUE)
            continue;
        c.buffer[8] = put(out, c.doubles * sizeof *out);
        memcpy(run.buffer, c.buffer, sizeof c.buffer);
        assert_int_equal(fit_device_run(now.module, &run), 0);
        assert_int_equal(fit_device_read(now.d, c.buffer[8], out, c.doubles * sizeof *out), 0);
        fit_device_release(now.d, c.buffer[8]);
    }
    end(&c);
}

struct fit_kernel device_kernel_of(const struct device_kernel *what)
{
    struct fit_kernel k = *what->kernel;
    now = *what;
    k.moments = moments;
    k.normal = normal;
    k.gradient = gradient;
    k.model = model;
    return k;
}
