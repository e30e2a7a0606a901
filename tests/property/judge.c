/* judge.c -- the products of a kernel against the interpreter: see judge.h. */
#include "judge_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/tol.h"

const char *const judge_name[JUDGE_PRODUCTS] = {"points", "jacobian", "model",  "moments",
                                                "normal", "hessian",  "second"};

static int rows(const struct setup *s)
{
    return s->k->space == FIT_ROWS;
}

/* As little memory as a kernel asks for, so that sanitizers see what it touches beyond. */
static double *aligned(size_t n)
{
    size_t bytes = ((n ? n : 1) * sizeof(double) + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (!p)
        abort();
    memset(p, 0, bytes);
    return p;
}

/* What was not written must not be read: all NaN. */
static double *poisoned(size_t n)
{
    double *p = aligned(n);
    memset(p, 0xff, n * sizeof *p);
    return p;
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

struct judge *judge_new(struct hg_model *m, int hessian)
{
    struct judge *j = room(1, sizeof *j);
    hg_id mean = hg_model_variant(m, "fast")->mean, zero[MAX_LINEAR];
    j->m = m;
    j->K = m->param.n;
    j->Q = m->linear.n;
    j->leaf = room(j->K + j->Q, sizeof *j->leaf);
    j->root = room(j->K + j->Q + 2, sizeof *j->root);
    for (uint32_t k = 0; k < j->K + j->Q; k++) {
        j->leaf[k] =
            hg_symbol(m->expr, k < j->K ? HG_PARAM : HG_LINEAR, k < j->K ? k : k - (uint32_t)j->K);
        j->root[k + 2] = hg_diff(m->expr, mean, j->leaf[k]);
    }
    for (uint32_t q = 0; q < j->Q; q++)
        zero[q] = hg_const(m->expr, 0.0);
    j->root[0] = mean;
    j->root[1] = hg_replace(m->expr, mean, (uint32_t)j->Q, j->leaf + j->K, zero);
    j->symbolic = hg_eval_new(m->expr, (uint32_t)(j->K + j->Q + 2), j->root);
    j->dual = hg_eval_new(m->expr, 1, &mean);
    uint32_t W = (uint32_t)(j->K + j->Q), n = 0;
    j->second = room(W * (W + 1) / 2, sizeof *j->second);
    for (uint32_t a = 0; a < W && hessian; a++)
        for (uint32_t b = a; b < W; b++)
            j->second[n++] = hg_diff(m->expr, j->root[a + 2], j->leaf[b]);
    j->symbolic2 = hg_eval_new(m->expr, n, j->second);
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    hg_eval_free(j->symbolic);
    hg_eval_free(j->dual);
    hg_eval_free(j->symbolic2);
    free(j->second);
    free(j->leaf);
    free(j->root);
    free(j);
}

/* --- geometry -------------------------------------------------------------------------------- */

static void draw_parameters(struct setup *s, int edges)
{
    for (size_t k = 0; k < s->k->nparam; k++) {
        const struct fit_param *p = &s->k->param[k];
        s->theta[k] = edges && random_chance(s->r, 0.6)
                          ? random_chance(s->r, 0.5) ? p->lower : p->upper
                          : random_in(s->r, p->lower, p->upper);
    }
    for (size_t k = 0; k < s->l.ngroup * s->k->nlinear; k++)
        s->lin[k] = random_in(s->r, -1, 2);
}

static void draw_pairs(struct setup *s)
{
    struct random *r = s->r;
    double first = random_chance(r, 0.5) ? 0 : random_in(r, 0, 3),
           masked = random_chance(r, 0.5) ? 0.15 : 0;
    s->l.step = random_in(r, 0.02, 0.2);
    s->l.ngroup = 1 + random_below(r, MAX_GROUPS);
    s->l.ntime = 2 + random_below(r, MAX_FRAMES - 2);
    for (size_t k = 0; k < s->l.ntime; k++) {
        s->time[k] = first + s->l.step * (double)k;
        if (!random_chance(r, masked))
            s->frame[s->l.nframe++] = (uint32_t)k;
    }
    if (s->l.nframe < 2)
        s->frame[0] = 0, s->frame[1] = (uint32_t)s->l.ntime - 1, s->l.nframe = 2;
    for (size_t a = 0; a < s->k->naxis; a++)
        for (size_t g = 0; g < s->l.ngroup; g++)
            s->coord[a][g] = random_in(r, -3, 3);
    s->l.time = s->time;
    s->l.frame = s->frame;
    s->l.panel = (size_t)L * (1 + random_below(r, 8));
    s->l.chunk = (size_t)4 << random_below(r, 6);
}

static void draw_rows(struct setup *s)
{
    s->l.ngroup = 1;
    s->l.nrow = 1 + random_below(s->r, MAX_ROWS);
    s->l.chunk = (size_t)L * (1 + random_below(s->r, 8));
    for (size_t c = 0; c < s->k->ncolumn; c++)
        for (size_t k = 0; k < s->l.nrow + L; k++)
            s->column[c][k] = k < s->l.nrow ? random_in(s->r, 0, 4) : s->column[c][s->l.nrow - 1];
}

static void draw(struct setup *s, int edges)
{
    for (size_t k = 0; k < 4; k++) {
        s->setting[k] = random_in(s->r, 0.5, 2);
        s->coord_ptr[k] = s->coord[k];
        s->column_ptr[k] = s->column[k];
    }
    s->l.setting = s->setting;
    s->l.coord = s->coord_ptr;
    s->l.column = s->column_ptr;
    if (rows(s))
        draw_rows(s);
    else
        draw_pairs(s);
    draw_parameters(s, edges);
}

/* --- reference ------------------------------------------------------------------------------- */

struct hg_point judge_point(const struct setup *s, size_t p, double *coord, double *column)
{
    struct hg_point at = {.param = s->theta,
                          .setting = s->setting,
                          .time = s->time,
                          .ntime = (uint32_t)s->l.ntime,
                          .step = s->l.step,
                          .coord = coord,
                          .column = column};
    at.linear = s->lin + s->pg[p] * s->k->nlinear;
    for (size_t a = 0; a < 4; a++) {
        coord[a] = s->coord[a][s->pg[p]];
        column[a] = s->column[a][rows(s) ? s->pi[p] : 0];
    }
    if (!rows(s)) {
        at.i = s->frame[s->pi[p]];
        at.j = s->frame[s->pj[p]];
    }
    return at;
}

/* Runs an evaluator over all points; everything once per group, then only the pair. */
static void sweep(struct setup *s, struct hg_eval *ev, hg_id seed,
                  void (*take)(struct setup *, size_t, hg_id))
{
    double coord[4], column[4];
    for (size_t p = 0; p < s->npoint; p++) {
        struct hg_point at = judge_point(s, p, coord, column);
        at.seed = seed;
        if (rows(s) || p == 0 || s->pg[p] != s->pg[p - 1])
            hg_eval_run(ev, &at);
        else
            hg_eval_pair(ev, &at);
        take(s, p, seed);
    }
}

static void take_symbolic(struct setup *s, size_t p, hg_id seed)
{
    (void)seed;
    for (size_t c = 0; c < s->width; c++) {
        struct hg_num x = hg_eval_get(s->jd->symbolic, s->jd->root[c], 0);
        s->ref[p * s->width + c] = (struct value){x.v, (x.e + fabsl(x.v)) * TOL_UNIT};
        s->top[c] = fmaxl(s->top[c], fabsl(x.v));
    }
}

/* The derivative proper is the dual number's. */
static void take_dual(struct setup *s, size_t p, hg_id seed)
{
    size_t k = 0;
    while (s->jd->leaf[k] != seed)
        k++;
    struct value *x = &s->ref[p * s->width + 2 + k];
    x->v = hg_eval_get(s->jd->dual, s->jd->root[0], 0).d;
}

static void take_mean(struct setup *s, size_t p, hg_id seed)
{
    struct hg_num x = hg_eval_get(s->jd->dual, s->jd->root[0], 0);
    (void)seed;
    s->ref[p * s->width] = (struct value){x.v, (x.e + fabsl(x.v)) * TOL_UNIT};
}

static void reference(struct setup *s)
{
    size_t n = rows(s) ? s->l.nrow : s->l.nframe * (s->l.nframe - 1) / 2 * s->l.ngroup;
    s->width = s->values ? 1 : 2 + s->jd->K + s->jd->Q;
    s->ref = room(n * s->width, sizeof *s->ref);
    s->top = room(s->width, sizeof *s->top);
    s->pi = room(n, sizeof *s->pi);
    s->pj = room(n, sizeof *s->pj);
    s->pg = room(n, sizeof *s->pg);
    for (uint32_t g = 0; g < s->l.ngroup; g++)
        for (uint32_t i = 0; i < (rows(s) ? s->l.nrow : s->l.nframe); i++)
            for (uint32_t j = i + 1; j < (rows(s) ? i + 2 : s->l.nframe); j++, s->npoint++)
                s->pi[s->npoint] = i, s->pj[s->npoint] = j, s->pg[s->npoint] = g;
    sweep(s, s->values ? s->jd->dual : s->jd->symbolic, 0, s->values ? take_mean : take_symbolic);
    for (size_t k = 0; k < s->jd->K + s->jd->Q && !s->values; k++)
        sweep(s, s->jd->dual, s->jd->leaf[k], take_dual);
}

static const struct value *ref_at(const struct setup *s, size_t g, size_t i, size_t j)
{
    size_t n = s->l.nframe,
           p = rows(s) ? i : g * (n * (n - 1) / 2) + i * (2 * n - i - 1) / 2 + (j - i - 1);
    return s->ref + p * s->width;
}

/* --- comparison ------------------------------------------------------------------------------ */

/* 1 when x is within `allowed` bounds of the reference. */
int judge_agrees(struct setup *s, enum judge_product what, double x, long double v, long double e,
                  long double allowed)
{
    long double error = fabsl((long double)x - v), ratio;
    s->report->compared++;
    if (!(fabsl(v) < TOL_HUGE && e < TOL_HUGE) || error <= TOL_TINY)
        return 1;
    ratio = error / e;
    if (ratio > (long double)s->report->worst[what])
        s->report->worst[what] = (double)ratio;
    if (ratio <= allowed)
        return 1;
    size_t n = (size_t)snprintf(s->jd->message, sizeof s->jd->message,
                                "%s: %.17g, expected %.17Lg; error %.3Lg is %.3Lg bounds (%s, %zu "
                                "frames of %zu, %zu groups,"
                                " %zu rows, panel %zu, chunk %zu, theta",
                                judge_name[what], x, v, error, ratio, s->k->isa, s->l.nframe,
                                s->l.ntime, s->l.ngroup, s->l.nrow, s->l.panel, s->l.chunk);
    for (size_t k = 0; k < s->k->nparam && n < sizeof s->jd->message - 40; k++)
        n += (size_t)snprintf(s->jd->message + n, sizeof s->jd->message - n, " %.6g", s->theta[k]);
    snprintf(s->jd->message + n, sizeof s->jd->message - n, ")");
    return 0;
}

int judge_annotate(struct setup *s, const char *format, size_t a, size_t b, size_t c)
{
    size_t n = strlen(s->jd->message);
    snprintf(s->jd->message + n, sizeof s->jd->message - n, format, a, b, c);
    return 0;
}

/* Points in a random order of the two frames; jac NULL gives the same means. */
static int check_points(struct setup *s)
{
    size_t W = s->width - 2;
    uint32_t *i = room(s->npoint, sizeof *i), *j = room(s->npoint, sizeof *j);
    double *mean = room(s->npoint, sizeof *mean), *again = room(s->npoint, sizeof *again);
    double *jac = room(s->npoint * W, sizeof *jac);
    int ok = 1;
    for (size_t p = 0; p < s->npoint; p++) {
        int swap = !rows(s) && random_chance(s->r, 0.3);
        i[p] = swap ? s->pj[p] : s->pi[p];
        j[p] = swap ? s->pi[p] : s->pj[p];
    }
    if (s->derivative)
        s->k->points(&s->l, s->ws, s->lin,
                     &(struct fit_points){s->npoint, i, rows(s) ? NULL : j, rows(s) ? NULL : s->pg}, mean, jac);
    s->k->points(&s->l, s->ws, s->lin, &(struct fit_points){s->npoint, i, rows(s) ? NULL : j, rows(s) ? NULL : s->pg},
                 again, NULL);
    for (size_t p = 0; p < s->npoint && ok; p++) {
        const struct value *x = s->ref + p * s->width;
        ok = judge_agrees(s, JUDGE_POINTS, again[p], x[0].v, x[0].e, TOL_POINTS) &&
             (!s->derivative || judge_agrees(s, JUDGE_POINTS, mean[p], x[0].v, x[0].e, TOL_POINTS));
        if (!ok)
            judge_annotate(s, " at i %zu j %zu g %zu", s->pi[p], s->pj[p], s->pg[p]);
        for (size_t c = 0; c < W && ok && s->derivative; c++) {
            ok = judge_agrees(s, JUDGE_JACOBIAN, jac[c * s->npoint + p], x[c + 2].v, x[c + 2].e, TOL_POINTS);
            if (!ok)
                judge_annotate(s, " column %zu at i %zu j %zu", c, s->pi[p], s->pj[p]);
        }
    }
    free(i), free(j), free(mean), free(again), free(jac);
    return ok;
}

/* --- tiles ----------------------------------------------------------------------------------- */

/* Data of a tile in kernel order, and the reference of each lane (NULL: a lane that does not
 * count). */
struct data {
    struct fit_tile t;
    double *y, *w, *sum, *out;
    const struct value **ref;
    uint32_t *group;
    size_t n;
};

static void fill_tile(struct setup *s, struct data *d, size_t i0, size_t i1, size_t j0, size_t j1,
                      int weighted)
{
    struct fit_tile *t = &d->t;
    long double sum[3 * MAX_GROUPS] = {0};
    *t = (struct fit_tile){.i0 = i0,
                           .i1 = i1,
                           .j0 = j0,
                           .j1 = j1,
                           .y = d->y,
                           .w = weighted ? d->w : NULL,
                           .sum = d->sum};
    d->n = 0;
    for (size_t i = i0; i < i1; i = rows(s) ? (i / L + 1) * L : i + 1) {
        size_t b = rows(s) ? i / L : (j0 > i + 1 ? j0 : i + 1) / L,
               end = rows(s) ? b + 1 : (j1 + L - 1) / L;
        for (; b < end; b++)
            for (size_t g = 0; g < s->l.ngroup; g++)
                for (size_t lane = 0; lane < L; lane++, d->n++) {
                    size_t j = b * L + lane;
                    int counts = rows(s) ? j < i1 : j > i && j < j1;
                    d->ref[d->n] = !counts   ? NULL
                                   : rows(s) ? ref_at(s, 0, j, 0)
                                             : ref_at(s, g, i, j);
                    d->group[d->n] = (uint32_t)g;
                    d->y[d->n] = d->w[d->n] = 0;
                    if (!counts)
                        continue;
                    double w = !weighted                  ? 1
                               : random_chance(s->r, 0.1) ? 0
                                                          : random_in(s->r, 0.2, 3);
                    double y = (double)d->ref[d->n][0].v + random_in(s->r, -0.5, 0.5);
                    d->w[d->n] = w, d->y[d->n] = y;
                    sum[3 * g] += w, sum[3 * g + 1] += (long double)w * y,
                        sum[3 * g + 2] += (long double)w * y * y;
                }
    }
    for (size_t k = 0; k < 3 * s->l.ngroup; k++)
        d->sum[k] = (double)sum[k];
}

static int check_model(struct setup *s, struct data *d)
{
    int ok = 1;
    s->k->model(&s->l, s->ws, s->lin, &d->t, d->out);
    for (size_t p = 0; p < d->n && ok; p++)
        if (d->ref[p])
            ok = judge_agrees(s, JUDGE_MODEL, d->out[p], d->ref[p][0].v, d->ref[p][0].e, TOL_MODEL) ||
                 judge_annotate(s, " lane %zu of tile i0 %zu j0 %zu", p, d->t.i0, d->t.j0);
    return ok;
}

/* Adds w a b and its bound. */
static void add(struct value *sum, long double w, struct value a, struct value b)
{
    sum->v += w * a.v * b.v;
    sum->e += w * (fabsl(a.v) * b.e + fabsl(b.v) * a.e + a.e * b.e + fabsl(a.v * b.v) * TOL_UNIT);
}

static int check_sums(struct setup *s, enum judge_product what, const struct value *sum,
                      const double *out, size_t n, const struct data *d)
{
    for (size_t k = 0; k < n; k++) {
        if (sum[k].v == 0 && sum[k].e == 0 && out[k] == 0)
            continue;
        if (!judge_agrees(s, what, out[k], sum[k].v, sum[k].e, TOL_SUMS))
            return judge_annotate(s, " sum %zu of tile i0 %zu j0 %zu", k, d->t.i0, d->t.j0);
    }
    return 1;
}

static struct value lane_minus(const struct data *d, size_t p, struct value x)
{
    long double y = d->y[p];
    return (struct value){y - x.v, x.e + (fabsl(y) + fabsl(x.v)) * TOL_UNIT};
}

static int check_moments(struct setup *s, struct data *d)
{
    size_t Q = s->k->nlinear, per = Q * (Q + 1) / 2 + Q + 1, n = per * s->l.ngroup;
    struct value *sum = room(n, sizeof *sum);
    for (size_t p = 0; p < d->n; p++) {
        const struct value *x = d->ref[p];
        if (!x)
            continue;
        struct value *at = sum + per * d->group[p], r = lane_minus(d, p, x[1]);
        const struct value *b = x + 2 + s->k->nparam;
        for (size_t q = 0; q < Q; q++)
            for (size_t u = q; u < Q; u++)
                add(at++, d->w[p], b[q], b[u]);
        for (size_t q = 0; q < Q; q++)
            add(at++, d->w[p], b[q], r);
        add(at, d->w[p], r, r);
    }
    s->k->moments(&s->l, s->ws, &d->t, s->scratch, d->out);
    int ok = check_sums(s, JUDGE_MOMENTS, sum, d->out, n, d);
    free(sum);
    return ok;
}

static int check_normal(struct setup *s, struct data *d)
{
    size_t K = s->k->nparam, Q = s->k->nlinear, H = K * (K + 1) / 2,
           n = H + K + s->l.ngroup * Q * K;
    struct value *sum = room(n, sizeof *sum);
    for (size_t p = 0; p < d->n; p++) {
        const struct value *x = d->ref[p], *m = x ? x + 2 : NULL;
        if (!x)
            continue;
        struct value *at = sum, r = lane_minus(d, p, x[0]);
        for (size_t k = 0; k < K; k++)
            for (size_t u = k; u < K; u++)
                add(at++, d->w[p], m[k], m[u]);
        for (size_t k = 0; k < K; k++)
            add(at++, d->w[p], m[k], r);
        at += d->group[p] * Q * K;
        for (size_t q = 0; q < Q; q++)
            for (size_t k = 0; k < K; k++)
                add(at++, d->w[p], m[K + q], m[k]);
    }
    s->k->normal(&s->l, s->ws, s->lin, &d->t, s->scratch, d->out);
    int ok = check_sums(s, JUDGE_NORMAL, sum, d->out, n, d);
    free(sum);
    return ok;
}

static int check_tiles(struct setup *s)
{
    size_t most = (s->l.nframe + s->l.nrow + L) * (s->l.nframe + 2 * L) * s->l.ngroup + 1000;
    struct data d = {.y = aligned(most),
                     .w = aligned(most),
                     .sum = aligned(3 * MAX_GROUPS),
                     .out = poisoned(most)};
    size_t n = rows(s) ? s->l.nrow : s->l.nframe;
    int ok = 1;
    d.ref = room(most, sizeof *d.ref);
    d.group = room(most, sizeof *d.group);
    for (size_t j0 = 0; j0 < (rows(s) ? 1 : n) && ok; j0 += rows(s) ? 1 : s->l.panel) {
        size_t j1 = rows(s)               ? 0
                    : j0 + s->l.panel < n ? j0 + s->l.panel
                                          : n,
               last = rows(s) ? n : j1 - 1;
        for (size_t i0 = 0; i0 < last && ok; i0 += s->l.chunk) {
            fill_tile(s, &d, i0, i0 + s->l.chunk < last ? i0 + s->l.chunk : last, j0, j1,
                      random_chance(s->r, 0.7));
            ok = check_model(s, &d) && (s->values || check_moments(s, &d)) &&
                 (!s->derivative || check_normal(s, &d));
        }
    }
    free(d.y), free(d.w), free(d.sum), free(d.out), free(d.ref), free(d.group);
    return ok;
}

/* Values alone, then with derivatives, from fresh memory each time. */
static int check_all(struct setup *s)
{
    int ok = 1;
    const int orders = s->values ? 1 : s->k->hessian ? 3 : 2;
    for (s->derivative = 0; s->derivative < orders && ok; s->derivative++) {
        s->ws = poisoned(s->k->workspace(&s->l));
        s->scratch = poisoned(s->k->scratch(&s->l));
        enum fit_eval got = s->k->prepare(&s->l, s->theta, s->derivative, s->ws);
        ok = got == FIT_EVAL_OK;
        if (s->derivative < 2)
            ok = ok && (s->values || check_points(s)) && check_tiles(s);
        if (s->derivative && s->k->hessian)
            ok = ok && judge_second(s);
        ok = ok && (s->values || judge_alone(s));
        if (got != FIT_EVAL_OK)
            snprintf(s->jd->message, sizeof s->jd->message, "prepare returned %d", (int)got);
        free(s->ws);
        free(s->scratch);
    }
    return ok;
}

static const char *judge_one(const struct setup *what, int edges)
{
    struct setup *s = (struct setup *)(void *)aligned(sizeof *s / sizeof(double) + 1);
    struct judge *j = what->jd;
    *s = *what;
    j->message[0] = '\0';
    draw(s, edges);
    reference(s);
    int ok = check_all(s);
    free(s->ref), free(s->top), free(s->pi), free(s->pj), free(s->pg);
    free(s);
    return ok ? NULL : j->message;
}

const char *judge_case(struct judge *j, const struct fit_kernel *k, struct random *r, int edges,
                       struct judge_report *report)
{
    return judge_one(&(struct setup){.jd = j, .k = k, .r = r, .report = report}, edges);
}

const char *judge_values(struct judge *j, const struct fit_kernel *k, struct random *r, int edges,
                         struct judge_report *report)
{
    return judge_one(&(struct setup){.jd = j, .k = k, .r = r, .report = report, .values = 1}, edges);
}
