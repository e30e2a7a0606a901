/* solve.c -- the distribution at a given strength, by Gauss-Newton steps; and the whole sequence. */
#include "contin/contin_impl.h"
#include "math/linalg.h"
#include "math/nnls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 200, HALVINGS = 40 };

double contin_difference(size_t i, size_t k)
{
    return i == k + 1 ? -2.0 : i == k || i == k + 2 ? 1.0 : 0.0;
}

double contin_roughness(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n + 2; i++) {
        const double before = i >= 2 ? x[i - 2] : 0, at = i >= 1 && i <= n ? x[i - 1] : 0, after = i < n ? x[i] : 0;
        const double d = before - 2 * at + after;
        sum += d * d;
    }
    return sum;
}

/* ---- storage --------------------------------------------------------------------------------- */

static double *part(double **at, size_t n)
{
    double *p = *at;
    *at += n;
    return p;
}

static void fill(struct contin_work *w)
{
    const struct contin_problem *p = w->p;
    size_t i = 0;
    for (size_t c = 0; c < p->ncurve; c++)
        for (size_t k = 0; k < p->curve[c].n; k++, i++) {
            const struct contin_curve *v = &p->curve[c];
            w->of[i] = c;
            w->y[i] = v->y[k];
            w->w[i] = v->sigma ? 1 / v->sigma[k] : 1;
            for (size_t j = 0; j < p->n; j++)
                w->kernel[j * w->nvalue + i] = exp(-v->scale * p->u[j] * v->delay[k]);
        }
}

enum fit_status contin_work_new(struct contin_work *w, const struct contin_problem *p, struct fit_error *err)
{
    *w = (struct contin_work){.p = p, .nL = p->n + 2, .alpha = p->alpha, .lambda = 1};
    for (size_t c = 0; c < p->ncurve; c++)
        w->nvalue += p->curve[c].n;
    w->nfree = (p->free_baseline ? p->ncurve : 0) + p->ncurve - 1;
    const size_t all = w->nfree + p->n, N = w->nvalue, s = p->n + 2 * p->ncurve;
    w->rows = N < all ? N : all;
    const size_t tall = w->rows + w->nL;
    const size_t reals = N * (p->n + 3 + all + 1) + w->rows * (all + 1) + tall * (p->n + 1) + p->n + 2 * s;
    double *at = calloc(reals, sizeof *at);
    w->memory = at;
    w->of = calloc(N, sizeof *w->of);
    w->index = calloc(p->n, sizeof *w->index);
    if (!at || !w->of || !w->index)
        return fit_no_memory(err, "the distribution");
    w->kernel = part(&at, N * p->n);
    w->h = part(&at, N);
    w->y = part(&at, N);
    w->w = part(&at, N);
    w->full = part(&at, N * (all + 1));
    w->tri = part(&at, w->rows * (all + 1));
    w->stack = part(&at, tall * p->n);
    w->rhs = part(&at, tall);
    w->z = part(&at, p->n);
    w->now = (struct contin_state){part(&at, p->n), part(&at, p->ncurve), part(&at, p->ncurve)};
    w->next = (struct contin_state){part(&at, p->n), part(&at, p->ncurve), part(&at, p->ncurve)};
    fill(w);
    for (size_t c = 0; c < p->ncurve; c++)
        w->now.A[c] = 1;
    return FIT_OK;
}

void contin_work_free(struct contin_work *w)
{
    free(w->memory);
    free(w->of);
    free(w->index);
    *w = (struct contin_work){0};
}

/* ---- the model and its linear form ----------------------------------------------------------- */

static void transform(struct contin_work *w, const double *x)
{
    for (size_t i = 0; i < w->nvalue; i++)
        w->h[i] = 0;
    for (size_t j = 0; j < w->p->n; j++)
        for (size_t i = 0; x[j] > 0 && i < w->nvalue; i++)
            w->h[i] += w->kernel[j * w->nvalue + i] * x[j];
}

double contin_misfit(struct contin_work *w, const struct contin_state *s)
{
    double sum = 0;
    transform(w, s->x);
    for (size_t i = 0; i < w->nvalue; i++) {
        const size_t c = w->of[i];
        const double h = w->p->power == 2 ? w->h[i] * w->h[i] : w->h[i];
        const double r = (w->y[i] - s->b[c] - s->A[c] * h) * w->w[i];
        sum += r * r;
    }
    return sum;
}

/* Column of the free parameter A of curve c in the linear form; curve 0 has none. */
static size_t place_of(const struct contin_work *w, size_t c)
{
    return (w->p->free_baseline ? w->p->ncurve : 0) + c - 1;
}

/* Triangular form of full. */
static void reduce(struct contin_work *w)
{
    const size_t N = w->nvalue, columns = w->nfree + w->p->n + 1;
    fit_triangularise(N, w->rows, columns, w->full);
    w->rest = 0;
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < w->rows; i++)
            w->tri[j * w->rows + i] = w->full[j * N + i];
    for (size_t i = w->rows; i < N; i++)
        w->rest += w->full[(columns - 1) * N + i] * w->full[(columns - 1) * N + i];
}

/* model = b + A h^p + p A h^(p-1) K dx + h^p dA + db about w->now */
void contin_linearise(struct contin_work *w)
{
    const struct contin_state *s = &w->now;
    const size_t N = w->nvalue, n = w->p->n;
    const double p = w->p->power;
    transform(w, s->x);
    memset(w->full, 0, N * (w->nfree + n + 1) * sizeof *w->full);
    for (size_t i = 0; i < N; i++) {
        const size_t c = w->of[i];
        const double h = w->h[i], hp = p > 1 ? h * h : h, slope = p > 1 ? 2 * s->A[c] * h : s->A[c];
        if (w->p->free_baseline)
            w->full[c * N + i] = w->w[i];
        if (c > 0)
            w->full[place_of(w, c) * N + i] = hp * w->w[i];
        for (size_t j = 0; j < n; j++)
            w->full[(w->nfree + j) * N + i] = slope * w->kernel[j * N + i] * w->w[i];
        w->full[(w->nfree + n) * N + i] = (w->y[i] - s->A[c] * hp + slope * h + (c > 0 ? s->A[c] * hp : 0)) * w->w[i];
    }
    reduce(w);
}

/* ---- one step -------------------------------------------------------------------------------- */

/* Minimises the linear form into w->next. */
static void step(struct contin_work *w)
{
    const size_t n = w->p->n, f = w->nfree, rows = w->rows, below = rows > f ? rows - f : 0, m = below + w->nL;
    const double sl = sqrt(w->lambda), sa = sqrt(w->alpha);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            w->stack[j * m + i] =
                i < below ? sl * w->tri[(f + j) * rows + f + i] : sa * contin_difference(i - below, j);
    for (size_t i = 0; i < m; i++)
        w->rhs[i] = i < below ? sl * w->tri[(f + n) * rows + f + i] : 0;
    memcpy(w->next.x, w->now.x, n * sizeof *w->next.x);
    (void)fit_nnls(m, n, w->stack, w->rhs, w->next.x, w->index, w->z);
    double *free_ = w->z; /* at most n of them: 2 ncurve - 1 */
    for (size_t i = f; i-- > 0;) {
        double t = w->tri[(f + n) * rows + i];
        for (size_t j = i + 1; j < f; j++)
            t -= w->tri[j * rows + i] * free_[j];
        for (size_t j = 0; j < n; j++)
            t -= w->tri[(f + j) * rows + i] * w->next.x[j];
        const double d = w->tri[i * rows + i];
        free_[i] = d != 0.0 ? t / d : 0;
    }
    for (size_t c = 0; c < w->p->ncurve; c++) {
        w->next.b[c] = w->p->free_baseline ? free_[c] : 0;
        w->next.A[c] = c ? free_[place_of(w, c)] : 1;
    }
}

static double objective(struct contin_work *w, const struct contin_state *s)
{
    for (size_t c = 0; c < w->p->ncurve; c++)
        if (!(s->A[c] > 0))
            return INFINITY;
    return w->lambda * contin_misfit(w, s) + w->alpha * contin_roughness(w->p->n, s->x);
}

/* now <- now + t (next - now) */
static void blend(const struct contin_work *w, const struct contin_state *a, const struct contin_state *b, double t,
                  struct contin_state *to)
{
    for (size_t j = 0; j < w->p->n; j++)
        to->x[j] = a->x[j] + t * (b->x[j] - a->x[j]);
    for (size_t c = 0; c < w->p->ncurve; c++) {
        to->b[c] = a->b[c] + t * (b->b[c] - a->b[c]);
        to->A[c] = a->A[c] + t * (b->A[c] - a->A[c]);
    }
}

/* Starting point: the square root of the data has a linear model; its errors grow as the root falls. */
static void begin(struct contin_work *w)
{
    const size_t N = w->nvalue, n = w->p->n, f = w->nfree;
    double *first = calloc(w->p->ncurve, sizeof *first);
    memset(w->full, 0, N * (f + n + 1) * sizeof *w->full);
    for (size_t i = 0; first && i < N; i++)
        first[w->of[i]] = fmax(first[w->of[i]], fabs(w->y[i]));
    for (size_t c = 0; first && c < w->p->ncurve; c++)
        w->now.A[c] = first[0] > 0 && first[c] > 0 ? first[c] / first[0] : 1;
    free(first);
    for (size_t i = 0; i < N; i++) {
        const double A = w->now.A[w->of[i]], y = fmax(w->y[i] / A, 0);
        const double target = w->p->power == 2 ? sqrt(y) : y;
        const double weight = w->w[i] * A * (w->p->power == 2 ? 2 * fmax(target, sqrt(1 / (w->w[i] * A))) : 1);
        for (size_t j = 0; j < n; j++)
            w->full[(f + j) * N + i] = w->kernel[j * N + i] * weight;
        w->full[(f + n) * N + i] = target * weight;
    }
    /* the free parameters are held: their columns are 0, and rows above the triangle are unused */
    const struct contin_state keep = w->now;
    fit_triangularise(N, w->rows, f + n + 1, w->full);
    for (size_t j = 0; j < f + n + 1; j++)
        for (size_t i = 0; i < w->rows; i++)
            w->tri[j * w->rows + i] = w->full[j * N + i];
    step(w);
    memcpy(keep.x, w->next.x, n * sizeof *keep.x);
}

static double total(size_t n, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += x[j];
    return sum;
}

static int all_finite(const struct contin_work *w, double value)
{
    return isfinite(value + total(w->p->n, w->next.x));
}

enum fit_status contin_minimum(struct contin_work *w, struct fit_error *err)
{
    if (!(total(w->p->n, w->now.x) > 0))
        begin(w);
    double value = objective(w, &w->now);
    for (size_t turn = 0; turn < STEPS; turn++) {
        double t = 1, next = INFINITY;
        contin_linearise(w);
        step(w);
        for (size_t k = 0; k < HALVINGS; k++, t /= 2) {
            struct contin_state *s = &w->next;
            if (k > 0)
                blend(w, &w->now, s, 0.5, s);
            if ((next = objective(w, s)) <= value)
                break;
        }
        if (!(next <= value) && all_finite(w, value))
            break; /* no way down: rounding */
        if (!all_finite(w, next))
            return fit_fail(err, FIT_ERR_NUMERIC,
                            "no finite distribution: the values, or their errors, are too unlike");
        const double gain = value - next;
        blend(w, &w->next, &w->next, 0, &w->now);
        value = next;
        /* a linear problem is solved by its first step */
        if ((w->p->power == 1 && w->p->ncurve == 1) || gain <= 1e-13 * value)
            break;
    }
    if (!(total(w->p->n, w->now.x) > 0))
        return fit_fail(err, FIT_ERR_NUMERIC, "the distribution is zero: nothing in the data decays from above 0");
    contin_linearise(w);
    return FIT_OK;
}
