/* test_device.c -- the kernels of one model for accelerators:  test_device_MODEL WORD  with the device of that word.
 *
 *     plain       the text as plain C against the kernel for processors: sums to 1e-12 of their scale, values to 1e-13
 *     opencl:0    the same text there: the bits of plain C; skipped where there is none
 *     plain+plain+plain, opencl:all   devices that share sums: the bits of one
 *     nvrtc       the text compiled to PTX by NVRTC; skipped where there is none
 * and for all but the last: sums with and without weights, data that come in pieces, calls from several threads at a
 * time, each with the bits of the call alone. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"
#include "device/sums.h"

enum { MOST = 4096, CALLS = 6, POINTS = 4, SKIP = 77 };

static const struct fit_kernel *kernel;
static int failures;

static void fail(const char *what, size_t k, double x, double y, double allowed)
{
    if (failures++ < 20)
        printf("FAILED %s, number %zu: %.17g against %.17g, off by %.2e of %.2e\n", what, k, x, y, fabs(x - y),
               allowed);
}

static double draw(unsigned long *state)
{
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(*state >> 11) * 0x1p-53;
}

static double *aligned(size_t n)
{
    double *p = aligned_alloc(64, (n * sizeof(double) + 127) / 64 * 64);
    if (!p)
        abort();
    memset(p, 0, (n * sizeof(double) + 127) / 64 * 64);
    return p;
}

/* ---- data ---------------------------------------------------------------------------------------------- */

static struct fit_dataset *pairs(int weighted)
{
    enum { N = 131, GROUPS = 5 };
    static double time[N], coord[4][GROUPS], setting[8], y[N * N], sigma[N * N];
    const double *coords[4] = {coord[0], coord[1], coord[2], coord[3]};
    struct fit_error err;
    struct fit_dataset *ds;
    unsigned long state = 7;
    for (size_t k = 0; k < N; k++)
        time[k] = 0.1 * (double)k;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t a = 0; a < 4; a++)
            coord[a][g] = 20.0 * (double)g - 30;
    for (size_t k = 0; k < kernel->nsetting; k++)
        setting[k] = isnan(kernel->setting[k].value) ? 0.0054 * pow(1e8, (double)k) : kernel->setting[k].value;
    struct fit_dataset_pairs spec = {.ntime = N, .time = time, .step = 0.1, .ngroup = GROUPS, .naxis = kernel->naxis,
                                     .nsetting = kernel->nsetting, .coord = coords, .setting = setting,
                                     .center = kernel->intercept >= 0, .table_doubles = kernel->table_doubles};
    if (fit_dataset_new_pairs(&spec, &ds, &err) != FIT_OK)
        abort();
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t k = 0; k < N * N; k++) {
            const double age = 0.1 * fabs((double)(k % N) - (double)(k / N));
            y[k] = 1 + 0.3 * exp(-0.8 * age) + 0.05 * (draw(&state) - 0.5);
            sigma[k] = draw(&state) < 0.05 ? 0 : 0.5 + draw(&state);
        }
        if (fit_dataset_put(ds, g, y, weighted ? sigma : NULL, &err) != FIT_OK)
            abort();
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        abort();
    return ds;
}

static struct fit_dataset *rows(int weighted)
{
    enum { N = 1500, COLUMNS = 8 };
    static double column[COLUMNS][N], value[N], sigma[N], setting[8], axis[N];
    const double *columns[COLUMNS], *axes[4] = {axis, axis, axis, axis};
    struct fit_error err;
    struct fit_dataset *ds;
    unsigned long state = 11;
    const int counts = kernel->density && kernel->density->support >= FIT_SUPPORT_COUNTS;
    for (size_t k = 0; k < N; k++) {
        for (size_t c = 0; c < kernel->ncolumn && c < COLUMNS; c++) {
            const struct fit_column *d = &kernel->column[c];
            const double lower = d->lower < d->upper ? d->lower : 0.01, upper = d->lower < d->upper ? d->upper : 4;
            column[c][k] = lower + (upper - lower) * draw(&state);
            if (d->role == FIT_ROLE_VALUE)
                column[c][k] = counts ? floor(12 * draw(&state)) : 0.2 + draw(&state);
            value[k] = d->role == FIT_ROLE_VALUE ? column[c][k] : value[k];
            columns[c] = column[c];
        }
        sigma[k] = draw(&state) < 0.05 ? 0 : 0.5 + draw(&state);
        axis[k] = (double)(k % 3);
    }
    for (size_t k = 0; k < kernel->nsetting; k++)
        setting[k] = isnan(kernel->setting[k].value) ? 1 : kernel->setting[k].value;
    struct fit_dataset_table t = {.nrow = N, .ncolumn = kernel->ncolumn, .naxis = kernel->naxis,
                                  .nsetting = kernel->nsetting, .column = columns, .axis = axes, .value = value,
                                  .sigma = weighted ? sigma : NULL, .setting = setting,
                                  .center = kernel->intercept >= 0};
    if (fit_dataset_new_table(&t, &ds, &err) != FIT_OK || fit_dataset_finish(ds, &err) != FIT_OK)
        abort();
    return ds;
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

struct point {
    double *ws, *lin, *adj;
};

/* The n-th set of parameters: the model's start, then those of its screen. */
static struct point point_at(const struct fit_dataset *ds, size_t n)
{
    const size_t ng = ds->layout.ngroup, q = kernel->nlinear, each = 1 + q * (q + 1) / 2;
    struct point p = {aligned(kernel->workspace(&ds->layout)), aligned(ng * q + 1), aligned(ng * each)};
    double theta[64];
    unsigned long state = 3 + n;
    for (size_t k = 0; k < kernel->nparam; k++)
        theta[k] = n == 0 || n > kernel->nscreen ? kernel->param[k].start
                                                 : kernel->screen[(n - 1) * kernel->nparam + k];
    if (kernel->prepare(&ds->layout, theta, 1, p.ws) != FIT_EVAL_OK)
        abort();
    for (size_t k = 0; k < ng * q; k++)
        p.lin[k] = (int)(k % q) == kernel->intercept ? 0.02 : 0.2 + 0.2 * draw(&state);
    for (size_t k = 0; k < ng * each; k++)
        p.adj[k] = k % each == 0 ? 1.0 : 0.1 * draw(&state);
    return p;
}

static void free_point(struct point p)
{
    free(p.ws);
    free(p.lin);
    free(p.adj);
}

static size_t numbers(const struct fit_dataset *ds, enum fit_device_sum what)
{
    const size_t p = kernel->nparam, q = kernel->nlinear, ng = ds->layout.ngroup;
    return what == FIT_DEVICE_MOMENTS ? ng * (q * (q + 1) / 2 + q + 1)
           : what == FIT_DEVICE_NORMAL ? p * (p + 1) / 2 + p + ng * q * p
                                       : p;
}

static void on_processor(const struct fit_dataset *ds, enum fit_device_sum what, struct point p, double *out)
{
    const struct fit_layout *l = &ds->layout;
    double *scratch = aligned(kernel->scratch(l)), one[MOST];
    const size_t n = numbers(ds, what);
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < ds->ntile; k++) {
        memset(one, 0, sizeof one);
        if (what == FIT_DEVICE_MOMENTS)
            kernel->moments(l, p.ws, &ds->tile[k], scratch, one);
        else if (what == FIT_DEVICE_NORMAL)
            kernel->normal(l, p.ws, p.lin, &ds->tile[k], scratch, one);
        else
            kernel->gradient(l, p.ws, p.lin, p.adj, &ds->tile[k], scratch, one);
        for (size_t i = 0; i < n; i++)
            out[i] += one[i];
    }
    free(scratch);
}

static int by_device(struct fit_device_sums *s, enum fit_device_sum what, struct point p, double *out)
{
    const struct fit_device_request r = {what, p.ws, p.lin, p.adj, out};
    memset(out, 0, MOST * sizeof *out);
    return fit_device_sums_take(s, &r);
}

static double size_of_slope[64]; /* by parameter: the root of H_kk, the largest of all points */

static void find_sizes(const struct fit_dataset *ds)
{
    static double normal[MOST];
    memset(size_of_slope, 0, sizeof size_of_slope);
    for (size_t n = 0; n < POINTS && n <= kernel->nscreen; n++) {
        struct point at = point_at(ds, n);
        on_processor(ds, FIT_DEVICE_NORMAL, at, normal);
        for (size_t k = 0, d = 0; k < kernel->nparam; d += kernel->nparam - k++)
            size_of_slope[k] = fmax(size_of_slope[k], sqrt(fabs(normal[d])));
        free_point(at);
    }
}

/* The scale of rounding of every sum: Cauchy and Schwarz, from the diagonals.  Terms of a derivative may cancel at a
 * point, as those by the fraction of heterodyne at 1/2, so the diagonal is that of other points as well. */
static void scales(const struct fit_dataset *ds, enum fit_device_sum what, struct point at, double *scale)
{
    const size_t p = kernel->nparam, q = kernel->nlinear, ng = ds->layout.ngroup, m = q * (q + 1) / 2 + q + 1;
    static double moments[MOST];
    const double *H = size_of_slope;
    double square = 0;
    on_processor(ds, FIT_DEVICE_MOMENTS, at, moments);
    for (size_t g = 0; g < ng; g++)
        square += fabs(moments[g * m + m - 1]);
    for (size_t k = 0; k < numbers(ds, what); k++)
        scale[k] = what == FIT_DEVICE_MOMENTS ? fabs(moments[k / m * m + m - 1]) + (double)ds->npoint : 0;
    if (what == FIT_DEVICE_MOMENTS)
        return;
    size_t n = 0;
    for (size_t k = 0; k < p && what == FIT_DEVICE_NORMAL; k++)
        for (size_t l = k; l < p; l++)
            scale[n++] = H[k] * H[l];
    for (size_t k = 0; k < p; k++)
        scale[n++] = H[k] * sqrt(square + (double)ds->npoint);
    for (size_t k = 0; k < ng * q * p && what == FIT_DEVICE_NORMAL; k++)
        scale[n++] = H[k % p] * sqrt((double)ds->npoint);
}

static const char *const name_of[] = {"moments", "normal", "gradient"};

static void compare(const char *what, size_t n, const double *x, const double *y, const double *scale, double most)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        const double off = fabs(x[k] - y[k]) / scale[k];
        worst = off > worst ? off : worst;
        if (!(off <= most))
            fail(what, k, x[k], y[k], scale[k]);
    }
    printf("%-10s %4zu sums, worst %.1e of their scale\n", what, n, worst);
}

static void same_bits(const char *what, size_t n, const double *x, const double *y)
{
    for (size_t k = 0; k < n; k++)
        if (memcmp(&x[k], &y[k], sizeof *x) != 0 && !(isnan(x[k]) && isnan(y[k])))
            fail(what, k, x[k], y[k], 0);
}

/* ---- what is asked ------------------------------------------------------------------------------------- */

static struct fit_device_sums *sums_of(struct fit_device *d, const struct fit_dataset *ds)
{
    struct fit_device_sums *s;
    struct fit_error err;
    if (fit_device_sums_new(d, kernel, ds, &s, &err) != FIT_OK) {
        printf("FAILED %s\n", err.message);
        exit(1);
    }
    return s;
}

static void compare_sums(struct fit_device *d, struct fit_device *plain, const struct fit_dataset *ds)
{
    static double x[MOST], y[MOST], scale[MOST];
    struct fit_device_sums *s = sums_of(d, ds), *t = plain ? sums_of(plain, ds) : NULL;
    find_sizes(ds);
    for (size_t n = 0; n < POINTS && n <= kernel->nscreen; n++) {
        struct point p = point_at(ds, n);
        for (int what = FIT_DEVICE_MOMENTS; what <= FIT_DEVICE_GRADIENT; what++) {
            if (by_device(s, (enum fit_device_sum)what, p, x) != 0)
                printf("FAILED %s: %s\n", name_of[what], fit_device_failure(d)), failures++;
            on_processor(ds, (enum fit_device_sum)what, p, y);
            scales(ds, (enum fit_device_sum)what, p, scale);
            compare(name_of[what], numbers(ds, (enum fit_device_sum)what), x, y, scale, 1e-12);
            if (t && by_device(t, (enum fit_device_sum)what, p, y) == 0)
                same_bits(name_of[what], numbers(ds, (enum fit_device_sum)what), x, y);
        }
        free_point(p);
    }
    fit_device_sums_free(s);
    fit_device_sums_free(t);
}

static void compare_values(struct fit_device *d, struct fit_device *plain, const struct fit_dataset *ds)
{
    struct fit_device_sums *s = sums_of(d, ds), *t = plain ? sums_of(plain, ds) : NULL;
    const size_t n = fit_device_sums_doubles(s);
    double *x = aligned(n), *y = aligned(n), *z = aligned(n), *mean = aligned(n), *at = y;
    struct point p = point_at(ds, 1);
    for (size_t k = 0; k < ds->ntile; k++) {
        kernel->model(&ds->layout, p.ws, p.lin, &ds->tile[k], at);
        at += fit_tile_doubles(&ds->layout, &ds->tile[k]);
    }
    memcpy(x, y, n * sizeof *x);
    for (size_t k = 0; k < n; k++) /* lanes that do not count are left alone */
        x[k] = z[k] = NAN;
    if (fit_device_values(s, p.ws, p.lin, x) != 0)
        printf("FAILED values: %s\n", fit_device_failure(d)), failures++;
    size_t count = 0;
    for (size_t k = 0; k < n; k++)
        if (!isnan(x[k])) {
            count++;
            if (!(fabs(x[k] - y[k]) <= 1e-12 * (1 + fabs(y[k]))))
                fail("values", k, x[k], y[k], 1 + fabs(y[k]));
        }
    if (count < ds->npoint) /* of all lanes that count */
        printf("FAILED values: %zu of %zu\n", count, ds->npoint), failures++;
    if (t && fit_device_values(t, p.ws, p.lin, z) == 0)
        same_bits("values", n, x, z);
    printf("values     %zu\n", count);
    free_point(p);
    free(x), free(y), free(z), free(mean);
    fit_device_sums_free(s);
    fit_device_sums_free(t);
}

/* Pieces as small as they can be, and the whole. */
static void compare_pieces(struct fit_device *d, int weighted)
{
    static double x[MOST], y[MOST];
    struct fit_dataset *ds = kernel->space == FIT_ROWS ? rows(weighted) : pairs(weighted);
    struct fit_device_sums *s = sums_of(d, ds);
    struct point p = point_at(ds, 0);
    for (int what = FIT_DEVICE_MOMENTS; what <= FIT_DEVICE_GRADIENT; what++) {
        by_device(s, (enum fit_device_sum)what, p, x);
        setenv("FIT_DEVICE_MB", "0", 1);
        struct fit_dataset *again = kernel->space == FIT_ROWS ? rows(weighted) : pairs(weighted);
        struct fit_device_sums *t = sums_of(d, again);
        unsetenv("FIT_DEVICE_MB");
        by_device(t, (enum fit_device_sum)what, p, y);
        same_bits("in pieces", numbers(ds, (enum fit_device_sum)what), x, y);
        if (fit_device_sums_count(t).bytes != 0 && ds->ntile > 1)
            printf("FAILED in pieces: it was not\n"), failures++;
        fit_device_sums_free(t);
        fit_dataset_free(again);
    }
    free_point(p);
    fit_device_sums_free(s);
    fit_dataset_free(ds);
}

struct caller {
    struct fit_device_sums *s;
    struct point p;
    double out[MOST];
    int failed;
};

static void *call_many(void *user)
{
    struct caller *c = user;
    for (int k = 0; k < 3; k++)
        c->failed |= by_device(c->s, FIT_DEVICE_GRADIENT, c->p, c->out) != 0;
    return NULL;
}

static void compare_calls(struct fit_device *d, const struct fit_dataset *ds)
{
    static struct caller c[CALLS];
    static double alone[MOST];
    pthread_t thread[CALLS];
    struct fit_device_sums *s = sums_of(d, ds);
    for (size_t k = 0; k < CALLS; k++) {
        c[k] = (struct caller){.s = s, .p = point_at(ds, k)};
        pthread_create(&thread[k], NULL, call_many, &c[k]);
    }
    for (size_t k = 0; k < CALLS; k++)
        pthread_join(thread[k], NULL);
    const struct fit_device_count n = fit_device_sums_count(s);
    for (size_t k = 0; k < CALLS; k++) {
        if (c[k].failed || by_device(s, FIT_DEVICE_GRADIENT, c[k].p, alone) != 0)
            printf("FAILED calls: %s\n", fit_device_failure(d)), failures++;
        same_bits("calls together", numbers(ds, FIT_DEVICE_GRADIENT), c[k].out, alone);
        free_point(c[k].p);
    }
    printf("calls      %zu in %zu launches\n", n.calls, n.launches);
    fit_device_sums_free(s);
}

/* The text through NVRTC, which needs no card. */
static int compile_text(void)
{
    struct fit_device d = {0};
    char *text = fit_gpu_whole_text(&fit_gpu_sources[0]), *ptx = fit_nvrtc_compile(&d, text, 90);
    size_t kernels = 0;
    free(text);
    if (!ptx) {
        const int absent = strstr(d.failure, "there is no NVRTC") != NULL;
        printf("%s: %s\n", absent ? "skipped" : "FAILED", d.failure);
        return absent ? SKIP : 1;
    }
    for (const char *p = ptx; (p = strstr(p, ".entry ")) != NULL; p++)
        kernels++;
    const int fused = strstr(ptx, "fma.rn.f64") != NULL, asked = strstr(ptx, "mad.rn.f64") != NULL;
    printf("NVRTC: %zu bytes of PTX, %zu kernels\n", strlen(ptx), kernels);
    free(ptx);
    return !(kernels == fit_gpu_sources[0].program->npass + 1 && fused && !asked);
}

int main(int argc, char **argv)
{
    struct fit_device *d, *plain = NULL;
    struct fit_error err;
    char note[400];
    const char *word = argc > 1 ? argv[1] : "plain";
    if (strcmp(word, "nvrtc") == 0)
        return compile_text();
    kernel = fit_kernels[0];
    fit_device_offer(fit_gpu_sources, fit_kernels);
    for (const struct fit_kernel *const *k = fit_kernels; *k; k++)
        if (strcmp((*k)->isa, "x86-64-v2") == 0 && strcmp((*k)->variant, "fast") == 0)
            kernel = *k;
    if (fit_device_open(word, &d, note, sizeof note, &err) != FIT_OK) {
        printf("skipped: %s\n", err.message);
        return SKIP;
    }
    if (!d) {
        printf("skipped: %s\n", note);
        return SKIP;
    }
    for (const struct fit_device *k = d; k; k = fit_device_next(k))
        printf("%s, %s: %s\n", kernel->name, fit_device_about(k)->name, fit_device_about(k)->what);
    if (strcmp(word, "plain") != 0)
        fit_device_open("plain", &plain, note, sizeof note, &err);
    for (int weighted = 0; weighted < 2; weighted++) {
        struct fit_dataset *ds = kernel->space == FIT_ROWS ? rows(weighted) : pairs(weighted);
        compare_sums(d, plain, ds);
        compare_values(d, plain, ds);
        compare_calls(d, ds);
        fit_dataset_free(ds);
        compare_pieces(d, weighted);
    }
    fit_device_close(d);
    fit_device_close(plain);
    printf("%d failures\n", failures);
    return failures != 0;
}
