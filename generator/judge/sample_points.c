/* sample_points.c -- points in the declared box of a model. */
#include "base/random.h"
#include "judge/sample_points.h"

#include <math.h>
#include <string.h>

enum { RANDOM = 20, CORNERS = 12, INSIDE = 20, ROWS_AT_ONCE = 5, ROWS_ALL = 6, MOST_ROWS = 60 };

static const double MOST_WORK = 5e6; /* nodes x places x outputs */
static const double frame[HG_PLACES_FRAMES] = {0, 1, 2, 3, 5, 9, 20, 50, 200, 500, 999, 1000};
static const uint32_t pair[HG_PLACES_PAIRS][2] = {{0, 1}, {0, 11}, {2, 5}, {10, 11}, {3, 4}, {7, 9}};

/* A number in [0, 1) for point k of a list. */
static double noise(uint64_t k)
{
    uint64_t state = k * HG_RANDOM_STEP;
    return hg_random(&state);
}

static double *numbers(const struct hg_places *b, size_t n)
{
    return hg_alloc(b->m->expr->arena, (n + 1) * sizeof(double));
}

static int bounded(const struct hg_symbol_decl *s)
{
    return isfinite(s->lower) && isfinite(s->upper) && s->lower < s->upper;
}

/* Value of a symbol that is neither fitted nor a column: of test t, of any test, its default, 1. */
static double fixed_value(const struct hg_model *m, const struct hg_list *list, uint32_t k, size_t offset, uint32_t t)
{
    for (uint32_t n = 0; n < m->ntest; n++) {
        const double *x = *(double *const *)(const void *)((const char *)&m->test[(t + n) % m->ntest] + offset);
        if (x && isfinite(x[k]))
            return x[k];
    }
    return isfinite(list->item[k].start) ? list->item[k].start : 1.0;
}

static double start_of(const struct hg_symbol_decl *s)
{
    return isfinite(s->start) ? s->start : bounded(s) ? hg_model_between(s, 0.5) : 1.0;
}

/* --- samples ------------------------------------------------------------------------------------------- */

/* A new sample at the starts; settings and coordinates go through those of the tests. */
static struct hg_sample *new_sample(struct hg_places *b, enum hg_origin origin)
{
    const struct hg_model *m = b->m;
    if (b->n == b->room)
        b->sample = hg_grow(m->expr->arena, b->sample, b->n, b->n + 16, sizeof *b->sample, &b->room);
    uint32_t t = b->n;
    struct hg_sample *s = &b->sample[b->n++];
    *s = (struct hg_sample){.origin = origin, .step = 0.1};
    s->param = numbers(b, m->param.n);
    s->linear = numbers(b, m->linear.n);
    s->setting = numbers(b, m->setting.n);
    s->coord = numbers(b, m->axis.n);
    for (uint32_t k = 0; k < m->param.n; k++)
        s->param[k] = start_of(&m->param.item[k]);
    for (uint32_t k = 0; k < m->linear.n; k++)
        s->linear[k] = start_of(&m->linear.item[k]);
    for (uint32_t k = 0; k < m->setting.n; k++)
        s->setting[k] = fixed_value(m, &m->setting, k, offsetof(struct hg_test, setting), t);
    for (uint32_t k = 0; k < m->axis.n; k++)
        s->coord[k] = origin != HG_FROM_TEST && bounded(&m->axis.item[k]) && t % 3
                          ? hg_model_between(&m->axis.item[k], t % 3 - 1)
                          : fixed_value(m, &m->axis, k, offsetof(struct hg_test, coord), t);
    if (m->ntest && m->test[t % m->ntest].step > 0)
        s->step = m->test[t % m->ntest].step;
    s->row = b->nrow ? (t * ROWS_AT_ONCE) % b->nrow : 0;
    s->nrow = t < ROWS_ALL || b->nrow < ROWS_AT_ONCE ? b->nrow : ROWS_AT_ONCE;
    return s;
}

static void add_tests(struct hg_places *b)
{
    const struct hg_model *m = b->m;
    for (uint32_t t = 0; t < m->ntest && t < 8; t++) {
        struct hg_sample *s = new_sample(b, HG_FROM_TEST);
        const struct hg_test *x = &m->test[t];
        for (uint32_t k = 0; k < m->param.n; k++)
            if (isfinite(x->param[k]))
                s->param[k] = x->param[k];
        for (uint32_t k = 0; k < m->linear.n; k++)
            if (isfinite(x->linear[k]))
                s->linear[k] = x->linear[k];
    }
}

static void add_random(struct hg_places *b)
{
    const struct hg_model *m = b->m;
    for (uint32_t r = 0; r < m->nscreen && r < RANDOM; r++) {
        struct hg_sample *s = new_sample(b, HG_FROM_RANDOM);
        memcpy(s->param, m->screen + (size_t)r * m->param.n, m->param.n * sizeof *s->param);
        for (uint32_t k = 0; k < m->linear.n; k++)
            if (bounded(&m->linear.item[k]))
                s->linear[k] = hg_model_between(&m->linear.item[k], noise(r * 31 + k));
    }
}

/* One parameter at a remarkable value, the others at their start or at a random set. */
static void add_edge(struct hg_places *b, uint32_t k, double value, uint32_t screen)
{
    const struct hg_model *m = b->m;
    const struct hg_symbol_decl *d = &m->param.item[k];
    if (!(value >= d->lower && value <= d->upper) || !isfinite(value))
        return;
    struct hg_sample *s = new_sample(b, HG_FROM_BOUND);
    if (screen < m->nscreen)
        memcpy(s->param, m->screen + (size_t)screen * m->param.n, m->param.n * sizeof *s->param);
    s->param[k] = value;
}

static void add_edges(struct hg_places *b)
{
    const struct hg_model *m = b->m;
    for (uint32_t k = 0; k < m->param.n; k++) {
        const struct hg_symbol_decl *d = &m->param.item[k];
        double size = fabs(start_of(d)) > 0 ? fabs(start_of(d)) : bounded(d) ? d->upper - d->lower : 1;
        add_edge(b, k, d->lower, k);
        add_edge(b, k, d->upper, k + 7);
        if (!bounded(d) || d->lower > 0)
            continue;
        add_edge(b, k, 0, k + 14);
        add_edge(b, k, 1e-5 * size, k + 21);
        add_edge(b, k, -1e-10 * size, k + 28);
    }
}

static void add_within(struct hg_places *b)
{
    const struct hg_model *m = b->m;
    for (uint32_t r = 0; r < CORNERS + INSIDE; r++) {
        struct hg_sample *s = new_sample(b, r < CORNERS ? HG_FROM_CORNER : HG_FROM_INSIDE);
        for (uint32_t k = 0; k < m->param.n + m->linear.n; k++) {
            const struct hg_symbol_decl *d = hg_model_unknown(m, k);
            double *x = k < m->param.n ? &s->param[k] : &s->linear[k - m->param.n], u = noise(1000 + r * 97 + k);
            if (bounded(d))
                *x = r < CORNERS ? (u < 0.5 ? d->lower : d->upper) : hg_model_between(d, u);
        }
    }
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static double *new_row(struct hg_places *b, int guessed)
{
    if (b->nrow == MOST_ROWS)
        b->nrow--;
    b->guessed[b->nrow] = (unsigned char)guessed;
    return b->row[b->nrow++] = numbers(b, b->m->column.n);
}

/* The entry of column k in the first test, or a number of order 1. */
static double usual(const struct hg_model *m, uint32_t k)
{
    const struct hg_symbol_decl *c = &m->column.item[k];
    double x = m->ntest && m->test[0].column ? m->test[0].column[k] : NAN;
    return isfinite(x) ? x : bounded(c) ? hg_model_between(c, 0.4) : 1 + 0.1 * k;
}

/* Column k at a value, the others as usual. */
static void row_with(struct hg_places *b, uint32_t k, double value, int guessed)
{
    double *row = new_row(b, guessed);
    for (uint32_t c = 0; c < b->m->column.n; c++)
        row[c] = usual(b->m, c);
    row[k] = value;
}

static void rows_of_range(struct hg_places *b, uint32_t k, double lower, double upper, int guessed)
{
    static const double part[] = {0, 1, 0.5, 0.13, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-12};
    static const double tiny[] = {0, 1e-3, -1e-5, 1e-7, -1e-10};
    for (size_t n = 0; n < sizeof part / sizeof *part; n++)
        row_with(b, k, lower + (upper - lower) * part[n], guessed);
    for (size_t n = 0; lower < 0 && upper > 0 && n < sizeof tiny / sizeof *tiny; n++)
        row_with(b, k, (tiny[n] < 0 ? -lower : upper) * tiny[n], guessed);
}

static void add_rows(struct hg_places *b)
{
    const struct hg_model *m = b->m;
    b->row = hg_alloc(m->expr->arena, MOST_ROWS * sizeof *b->row);
    b->guessed = hg_alloc(m->expr->arena, MOST_ROWS);
    for (uint32_t t = 0; t < m->ntest && t < 8; t++) {
        double *row = new_row(b, 0);
        for (uint32_t k = 0; k < m->column.n; k++)
            row[k] = isfinite(m->test[t].column[k]) ? m->test[t].column[k] : usual(m, k);
        b->ntest = b->nrow;
    }
    for (uint32_t k = 0; k < m->column.n; k++) {
        const struct hg_symbol_decl *c = &m->column.item[k];
        if (c->role != FIT_ROLE_COVARIATE)
            continue;
        if (bounded(c))
            rows_of_range(b, k, c->lower, c->upper, 0);
        else
            rows_of_range(b, k, 0, 3 * usual(m, k), 1);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

/* Large models: evaluations cost nodes x points, and every output may visit each point once more. Then some of the
 * parameter sets, every other one or more, are left out, so that the work takes only some seconds. */
static void thin(struct hg_places *b)
{
    double work = 0;
    uint32_t kept = 0;
    for (uint32_t s = 0; s < b->n; s++)
        work += (double)hg_places_of(b, s) * b->m->expr->n * (1.0 + b->m->param.n);
    uint32_t stride = 1 + (uint32_t)(work / MOST_WORK);
    for (uint32_t s = 0; s < b->n; s += stride)
        b->sample[kept++] = b->sample[s];
    b->n = kept;
}

struct hg_places *hg_places_new(const struct hg_model *m)
{
    struct hg_places *b = hg_alloc(m->expr->arena, sizeof *b);
    b->m = m;
    if (m->space != FIT_PAIRS)
        add_rows(b);
    add_tests(b);
    add_random(b);
    add_edges(b);
    add_within(b);
    thin(b);
    return b;
}

int hg_places_declared(const struct hg_places *b)
{
    int declared = b->m->space == FIT_PAIRS || b->nrow == 0;
    for (uint32_t k = 0; k < b->nrow; k++)
        declared |= !b->guessed[k];
    return declared;
}

uint32_t hg_places_of(const struct hg_places *b, uint32_t s)
{
    return b->m->space == FIT_PAIRS ? HG_PLACES_PAIRS : b->sample[s].nrow;
}

int hg_places_point(struct hg_places *b, uint32_t s, uint32_t place, struct hg_point *p)
{
    const struct hg_sample *x = &b->sample[s];
    *p = (struct hg_point){.param = x->param, .linear = x->linear, .setting = x->setting, .coord = x->coord,
                           .time = b->time, .ntime = b->m->space == FIT_PAIRS ? HG_PLACES_FRAMES : 1, .step = x->step};
    for (uint32_t k = 0; k < HG_PLACES_FRAMES; k++)
        b->time[k] = frame[k] * x->step;
    if (b->m->space == FIT_PAIRS) {
        p->i = pair[place][0];
        p->j = pair[place][1];
        return 2;
    }
    uint32_t row = (x->row + place) % b->nrow;
    p->column = b->row[row];
    return b->guessed[row] ? 0 : row < b->ntest ? 1 : 2;
}

static const char *append(struct hg_arena *a, const char *text, const char *name, double value)
{
    return hg_format(a, "%s%s%s = %.6g", text, *text ? ", " : "", name, value);
}

const char *hg_places_text(struct hg_places *b, uint32_t s, uint32_t place)
{
    const struct hg_model *m = b->m;
    struct hg_arena *a = m->expr->arena;
    struct hg_point p;
    const char *text = "";
    hg_places_point(b, s, place, &p);
    for (uint32_t k = 0; k < m->column.n; k++)
        if (m->column.item[k].role == FIT_ROLE_COVARIATE)
            text = append(a, text, m->column.item[k].name, p.column[k]);
    if (m->space == FIT_PAIRS) {
        text = append(a, text, "t1", p.time[p.i]);
        text = append(a, text, "t2", p.time[p.j]);
    }
    for (uint32_t k = 0; k < m->axis.n; k++)
        text = append(a, text, m->axis.item[k].name, p.coord[k]);
    for (uint32_t k = 0; k < m->param.n; k++)
        text = append(a, text, m->param.item[k].name, p.param[k]);
    return text;
}
