/* live_kernel.c -- an emitted kernel behind functions that a page can call.
 *
 * A kernel (fit/kernel.h) and this file make one WebAssembly module: no imports, one memory. The page writes the
 * geometry, the data and parameters into arrays of that memory and requests the mean. Contrast and offset, or other
 * linear parameters of the model, are eliminated as in the fit: weighted linear least squares for each group (or for
 * all groups together), inside their bounds.
 *
 * Cells. The data of a page are means over blocks of pairs of frames. The model of a cell is that of one pair at its
 * centre, plus the difference between the mean over the block and that pair at the parameters of the fit
 * (live_reference), in units of the linear parameter that is not the intercept. Blocks of one pair need no such
 * term.
 *
 * Built as an ordinary object it is the same, for tests. Functions return 0 for success, -1 when memory runs out, 1
 * when the kernel rejects the parameters. */
#include "fit/kernel.h"
#include "fit/page.h"
#include "report/kernel/live_kernel.h"

#include <math.h>
#include <string.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#include <stdlib.h>
#define EXPORT(name)
#endif

extern const struct fit_kernel FIT_KERNEL_SYMBOL;

enum { SAMPLE = 64 };

static struct {
    struct fit_layout layout;
    const double *coord[FIT_PAGE_AXES], *column[FIT_PAGE_COLUMNS];
    double *part[LIVE_PARTS];
    uint32_t *index[LIVE_PARTS]; /* of the parts that are whole numbers */
    double *probe, *ws;
    uint32_t *group;
    size_t *first, *count; /* of a table with states */
    size_t ncell;
} live;

/* ---- memory ---------------------------------------------------------------------------------- */

#ifdef __wasm__
extern unsigned char __heap_base;
static size_t used;

static void *take(size_t n, size_t size)
{
    const size_t page = 65536, bytes = (n * size + 127) & ~(size_t)63;
    if (used == 0)
        used = ((size_t)&__heap_base + 63) & ~(size_t)63;
    const size_t end = used + bytes, there = __builtin_wasm_memory_size(0) * page;
    if (bytes / (size ? size : 1) < n || end < used)
        return NULL;
    if (end > there && __builtin_wasm_memory_grow(0, (end - there + page - 1) / page) == (size_t)-1)
        return NULL;
    void *at = (void *)used;
    used = end;
    memset(at, 0, bytes);
    return at;
}
#else
static void *taken[LIVE_PARTS + 5]; /* of the state before, which the next one frees */
static size_t ntaken;

static void *take(size_t n, size_t size)
{
    const size_t bytes = (n * size + 127) & ~(size_t)63;
    void *at = ntaken < sizeof taken / sizeof *taken ? aligned_alloc(64, bytes) : NULL;
    if (!at)
        return NULL;
    taken[ntaken++] = at;
    return memset(at, 0, bytes);
}
#endif

/* One state at a time. */
static void release(void)
{
#ifdef __wasm__
    used = 0;
#else
    while (ntaken)
        free(taken[--ntaken]);
#endif
}

static size_t count_of(enum live_part part)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const struct fit_layout *l = &live.layout;
    switch (part) {
    case LIVE_SETTING: return k->nsetting;
    case LIVE_COORD: return k->naxis * l->ngroup;
    case LIVE_TIME: return l->ntime;
    case LIVE_FRAME: return l->nframe;
    case LIVE_THETA: return k->nparam;
    case LIVE_LIN: return l->ngroup * k->nlinear;
    case LIVE_BOUND: return 2 * k->nlinear;
    case LIVE_DATA:
    case LIVE_WEIGHT:
    case LIVE_SHIFT: return l->ngroup * live.ncell;
    case LIVE_CHI2:
    case LIVE_COUNT: return l->ngroup;
    case LIVE_COLUMN: return k->space == FIT_ROWS ? k->ncolumn * l->ngroup * live.ncell : 0;
    case LIVE_BASIS: return (k->nlinear + 1) * live.ncell;
    case LIVE_MEAN:
    case LIVE_CELL_I:
    case LIVE_CELL_J:
    case LIVE_PARTS: break;
    }
    return live.ncell;
}

static int whole(enum live_part part)
{
    return part == LIVE_FRAME || part == LIVE_CELL_I || part == LIVE_CELL_J || part == LIVE_COUNT;
}

static int is_for_pages(const struct fit_kernel *k, int ncell)
{
    if (k->nlinear > FIT_PAGE_LINEAR || k->naxis > FIT_PAGE_AXES)
        return 0;
    return k->space == FIT_PAIRS ? !k->density
                                 : k->ncolumn <= FIT_PAGE_COLUMNS && !k->feedback && ncell % FIT_LANES == 0;
}

/* Rows: the groups one behind the other. */
static void open_rows(void)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    live.layout.nrow = live.layout.ngroup * live.ncell;
    for (size_t c = 0; c < k->ncolumn; c++)
        live.column[c] = live.part[LIVE_COLUMN] + c * live.layout.nrow;
    live.layout.column = live.column;
}

EXPORT(live_open) int live_open(int ngroup, int ntime, int nframe, int ncell, double step)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    if (!is_for_pages(k, ncell))
        return 1;
    release();
    live.ncell = (size_t)ncell;
    live.layout = (struct fit_layout){.ngroup = (size_t)ngroup, .ntime = (size_t)ntime, .nframe = (size_t)nframe,
                                      .step = step, .panel = 64, .chunk = 64};
    for (int p = 0; p < LIVE_PARTS; p++) {
        void *at = take(count_of((enum live_part)p) + 1, whole((enum live_part)p) ? sizeof(uint32_t) : sizeof(double));
        if (!at)
            return -1;
        live.index[p] = whole((enum live_part)p) ? at : NULL;
        live.part[p] = whole((enum live_part)p) ? NULL : at;
    }
    live.layout.setting = live.part[LIVE_SETTING];
    live.layout.time = live.part[LIVE_TIME];
    live.layout.frame = live.index[LIVE_FRAME];
    for (size_t a = 0; a < k->naxis; a++)
        live.coord[a] = live.part[LIVE_COORD] + a * (size_t)ngroup;
    live.layout.coord = live.coord;
    if (k->space == FIT_ROWS)
        open_rows();
    live.first = take((size_t)ngroup + 1, sizeof *live.first);
    live.count = take((size_t)ngroup + 1, sizeof *live.count);
    live.probe = take((size_t)ngroup * k->nlinear + 1, sizeof *live.probe);
    live.group = take(live.ncell + 1, sizeof *live.group);
    live.ws = take(k->workspace(&live.layout) + 8, sizeof *live.ws);
    return live.first && live.count && live.probe && live.group && live.ws ? 0 : -1;
}

/* The frame period, where the times of another file are put in the place of those before. */
EXPORT(live_step) void live_step(double step)
{
    live.layout.step = step;
}

EXPORT(live_at) void *live_at(int part)
{
    return part < 0 || part >= LIVE_PARTS ? NULL : live.part[part] ? (void *)live.part[part] : (void *)live.index[part];
}

/* ---- what the model is ----------------------------------------------------------------------- */

static const struct fit_param *param(size_t k)
{
    const struct fit_kernel *m = &FIT_KERNEL_SYMBOL;
    return k < m->nparam ? &m->param[k] : k < m->nparam + m->nlinear ? &m->linear[k - m->nparam] : NULL;
}

EXPORT(live_word) const char *live_word(int what, int at)
{
    const struct fit_kernel *m = &FIT_KERNEL_SYMBOL;
    const size_t k = (size_t)at;
    const struct fit_param *p = param(k);
    switch (what) {
    case LIVE_MODEL_NAME: return m->name;
    case LIVE_MODEL_HASH: return m->hash;
    case LIVE_MODEL_VARIANT: return m->variant;
    case LIVE_PARAM_NAME: return p ? p->name : NULL;
    case LIVE_PARAM_UNIT: return p ? p->unit : NULL;
    case LIVE_PARAM_DOC: return p ? p->doc : NULL;
    case LIVE_SETTING_NAME: return k < m->nsetting ? m->setting[k].name : NULL;
    case LIVE_AXIS_NAME: return k < m->naxis ? m->axis[k].name : NULL;
    case LIVE_COLUMN_NAME:
        return k < m->ncolumn && m->column[k].role == FIT_ROLE_COVARIATE ? m->column[k].name : NULL;
    default: return NULL;
    }
}

EXPORT(live_number) double live_number(int what, int at)
{
    const struct fit_kernel *m = &FIT_KERNEL_SYMBOL;
    const struct fit_param *p = param((size_t)at);
    switch (what) {
    case LIVE_NPARAM: return (double)m->nparam;
    case LIVE_NLINEAR: return (double)m->nlinear;
    case LIVE_INTERCEPT: return m->intercept;
    case LIVE_LOWER: return p ? p->lower : NAN;
    case LIVE_UPPER: return p ? p->upper : NAN;
    case LIVE_START: return p ? p->start : NAN;
    case LIVE_OVER: return p ? (double)p->over : NAN;
    case LIVE_NCOLUMN: return (double)m->ncolumn;
    case LIVE_NSTATE: return (double)m->nstate;
    case LIVE_IS_TABLE: return m->space == FIT_ROWS;
    case LIVE_HAS_LAW: return m->density != NULL;
    default: return NAN;
    }
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* States go through the rows of each group. */
static void count_rows(void)
{
    if (FIT_KERNEL_SYMBOL.space != FIT_ROWS || !FIT_KERNEL_SYMBOL.nstate)
        return;
    for (size_t g = 0; g < live.layout.ngroup; g++) {
        live.first[g] = g * live.ncell;
        live.count[g] = live.index[LIVE_COUNT][g];
    }
    live.layout.first = live.first;
    live.layout.count = live.count;
}

EXPORT(live_prepare) int live_prepare(void)
{
    count_rows();
    return FIT_KERNEL_SYMBOL.prepare(&live.layout, live.part[LIVE_THETA], 0, live.ws) == FIT_EVAL_OK ? 0 : 1;
}

static void points(size_t g, const double *lin, size_t first, size_t n, double *out)
{
    const int rows = FIT_KERNEL_SYMBOL.space == FIT_ROWS;
    for (size_t k = first; k < first + n; k++)
        live.group[k] = (uint32_t)g;
    for (size_t k = first; rows && k < first + n; k++)
        live.index[LIVE_CELL_I][k] = (uint32_t)(g * live.ncell + k);
    FIT_KERNEL_SYMBOL.points(&live.layout, live.ws, lin,
                             &(struct fit_points){.n = n,
                                                  .i = live.index[LIVE_CELL_I] + first,
                                                  .j = rows ? NULL : live.index[LIVE_CELL_J] + first,
                                                  .g = live.group + first},
                             out, NULL);
}

/* The mean without its linear part: nearly always zero, which a sample of the cells shows. */
static void rest_of(size_t g, size_t n, double *rest)
{
    const size_t hop = n > SAMPLE ? n / SAMPLE : 1;
    int some = 0;
    for (size_t k = 0; k < n && !some; k += hop) {
        points(g, live.probe, k, 1, rest);
        some = !(rest[0] == 0);
    }
    if (some)
        points(g, live.probe, 0, n, rest);
    else
        memset(rest, 0, n * sizeof *rest);
}

/* b_q of the first n cells, behind them the rest. */
static void basis_of(size_t g, size_t n)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    double *basis = live.part[LIVE_BASIS], *rest = basis + k->nlinear * live.ncell;
    rest_of(g, n, rest);
    for (size_t q = 0; q < k->nlinear; q++) {
        double *b = basis + q * live.ncell;
        if ((int)q == k->intercept) {
            for (size_t c = 0; c < n; c++)
                b[c] = 1;
            continue;
        }
        live.probe[g * k->nlinear + q] = 1;
        points(g, live.probe, 0, n, b);
        live.probe[g * k->nlinear + q] = 0;
        for (size_t c = 0; c < n; c++)
            b[c] -= rest[c];
    }
}

/* The linear parameter that carries the shift of a cell, or nlinear. */
static size_t carrier(void)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    return k->nlinear == 2 && k->intercept >= 0 ? (size_t)(1 - k->intercept) : k->nlinear;
}

static double mean_of(size_t g, size_t c)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const double *basis = live.part[LIVE_BASIS], *lin = live.part[LIVE_LIN] + g * k->nlinear;
    double sum = basis[k->nlinear * live.ncell + c];
    for (size_t q = 0; q < k->nlinear; q++)
        sum += lin[q] * basis[q * live.ncell + c];
    return sum;
}

EXPORT(live_reference) void live_reference(int group)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const size_t g = (size_t)group, p = carrier();
    double *shift = live.part[LIVE_SHIFT] + g * live.ncell;
    const double *fit = live.part[LIVE_MEAN], scale = p < k->nlinear ? live.part[LIVE_LIN][g * k->nlinear + p] : 0;
    basis_of(g, live.ncell);
    for (size_t c = 0; c < live.ncell; c++)
        shift[c] = scale != 0 && isfinite(fit[c]) ? (fit[c] - mean_of(g, c)) / scale : 0;
}

/* ---- linear parameters ----------------------------------------------------------------------- */

struct sums {
    double a[FIT_PAGE_LINEAR][FIT_PAGE_LINEAR], b[FIT_PAGE_LINEAR];
};

/* Minimum of x A x - 2 b x over the parameters whose state is 0; the others stay fixed. 0: singular. */
static int solve_free(const struct sums *s, size_t n, const int *state, double *x)
{
    double m[FIT_PAGE_LINEAR][FIT_PAGE_LINEAR + 1];
    size_t at[FIT_PAGE_LINEAR], f = 0;
    for (size_t q = 0; q < n; q++)
        if (state[q] == 0)
            at[f++] = q;
    for (size_t r = 0; r < f; r++) {
        m[r][f] = s->b[at[r]];
        for (size_t q = 0; q < n; q++)
            m[r][f] -= state[q] ? s->a[at[r]][q] * x[q] : 0;
        for (size_t c = 0; c < f; c++)
            m[r][c] = s->a[at[r]][at[c]];
    }
    for (size_t r = 0; r < f; r++) { /* positive definite: no pivots */
        if (!(m[r][r] > 1e-14 * s->a[at[r]][at[r]]))
            return 0;
        for (size_t t = 0; t < f; t++)
            for (size_t c = f + 1; t != r && c-- > r;)
                m[t][c] -= m[t][r] / m[r][r] * (c == r ? 0 : m[r][c]);
    }
    for (size_t r = 0; r < f; r++)
        x[at[r]] = m[r][f] / m[r][r];
    return 1;
}

static double cost_of(const struct sums *s, size_t n, const double *x)
{
    double cost = 0;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < n; q++)
            cost += x[p] * s->a[p][q] * x[q];
    for (size_t p = 0; p < n; p++)
        cost -= 2 * s->b[p] * x[p];
    return cost;
}

/* The smallest cost inside the bounds: the best of all assignments of parameters to bounds. */
static void solve(const struct sums *s, size_t n, const double *bound, double *x)
{
    double least = INFINITY;
    size_t choices = 1;
    for (size_t q = 0; q < n; q++)
        choices *= 3;
    for (size_t k = 0; k < choices; k++) {
        double y[FIT_PAGE_LINEAR];
        int state[FIT_PAGE_LINEAR], good = 1;
        for (size_t q = 0, rest = k; q < n; q++, rest /= 3) {
            state[q] = (int)(rest % 3);
            y[q] = state[q] ? bound[2 * q + (size_t)state[q] - 1] : 0;
        }
        good = solve_free(s, n, state, y);
        for (size_t q = 0; q < n && good; q++)
            good = y[q] >= bound[2 * q] && y[q] <= bound[2 * q + 1];
        const double cost = good ? cost_of(s, n, y) : INFINITY;
        if (cost < least) {
            least = cost;
            memcpy(x, y, n * sizeof *x);
        }
        if (k == 0 && good) /* the free minimum is inside */
            return;
    }
}

static void add_sums(size_t g, struct sums *s)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const double *y = live.part[LIVE_DATA] + g * live.ncell, *w = live.part[LIVE_WEIGHT] + g * live.ncell;
    const double *basis = live.part[LIVE_BASIS], *rest = basis + k->nlinear * live.ncell;
    for (size_t c = 0; c < live.ncell; c++) {
        if (!(w[c] > 0))
            continue;
        for (size_t p = 0; p < k->nlinear; p++) {
            const double wb = w[c] * basis[p * live.ncell + c];
            s->b[p] += wb * (y[c] - rest[c]);
            for (size_t q = 0; q < k->nlinear; q++)
                s->a[p][q] += wb * basis[q * live.ncell + c];
        }
    }
}

static void shift_basis(size_t g)
{
    const double *shift = live.part[LIVE_SHIFT] + g * live.ncell;
    const size_t p = carrier();
    double *b = live.part[LIVE_BASIS] + p * live.ncell;
    for (size_t c = 0; p < FIT_KERNEL_SYMBOL.nlinear && c < live.ncell; c++)
        b[c] += shift[c];
}

static struct sums of_all;

EXPORT(live_sums_begin) void live_sums_begin(void)
{
    memset(&of_all, 0, sizeof of_all);
}

EXPORT(live_sums) void live_sums(int group)
{
    basis_of((size_t)group, live.ncell);
    shift_basis((size_t)group);
    add_sums((size_t)group, &of_all);
}

EXPORT(live_sums_end) void live_sums_end(void)
{
    const size_t n = FIT_KERNEL_SYMBOL.nlinear;
    double *lin = live.part[LIVE_LIN];
    if (n == 0)
        return;
    solve(&of_all, n, live.part[LIVE_BOUND], lin);
    for (size_t g = 1; g < live.layout.ngroup; g++)
        memcpy(lin + g * n, lin, n * sizeof *lin);
}

/* -2 log likelihood of the rows of a group that count, for a noise distribution of the model. */
static double deviance(size_t g)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const double *w = live.part[LIVE_WEIGHT] + g * live.ncell;
    const struct fit_tile tile = {.i0 = g * live.ncell,
                                  .i1 = (g + 1) * live.ncell,
                                  .group = g,
                                  .y = live.part[LIVE_DATA] + g * live.ncell};
    double *l = live.part[LIVE_BASIS], sum = 0;
    k->density->log_density(&live.layout, live.ws, &tile, l);
    for (size_t c = 0; c < live.ncell; c++)
        sum += w[c] > 0 ? -2 * w[c] * l[c] : 0;
    return sum;
}

EXPORT(live_group) void live_group(int group, int scaling)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    const size_t g = (size_t)group;
    const double *y = live.part[LIVE_DATA] + g * live.ncell, *w = live.part[LIVE_WEIGHT] + g * live.ncell;
    double *mean = live.part[LIVE_MEAN], chi2 = 0;
    struct sums own = {0};
    basis_of(g, live.ncell);
    shift_basis(g);
    if (scaling == LIVE_INDIVIDUAL && k->nlinear) {
        add_sums(g, &own);
        solve(&own, k->nlinear, live.part[LIVE_BOUND], live.part[LIVE_LIN] + g * k->nlinear);
    }
    for (size_t c = 0; c < live.ncell; c++) {
        mean[c] = mean_of(g, c);
        chi2 += w[c] > 0 ? w[c] * (y[c] - mean[c]) * (y[c] - mean[c]) : 0;
    }
    live.part[LIVE_CHI2][g] = k->density ? deviance(g) : chi2;
}

/* At the pairs by which the page has replaced the first n cells; it restores the cells. */
EXPORT(live_points) void live_points(int group, int n)
{
    points((size_t)group, live.part[LIVE_LIN], 0, (size_t)n, live.part[LIVE_MEAN]);
}
