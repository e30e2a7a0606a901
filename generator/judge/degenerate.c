/* degenerate.c -- finds parameters that data cannot distinguish: dependent columns of the Jacobian.
 *
 * The mean is evaluated with its derivatives at the model's random parameter sets, in extended precision. Columns are
 * taken in order; one that depends on the basis before it closes a circuit of the matroid of columns: a set of
 * parameters, minimal because a vector has only one representation in a basis. A circuit counts when it occurs at every
 * set and its combination of columns vanishes within the running error bound of the evaluator (eval.h). The search is
 * repeated with one parameter at a special value (0, 1, -1, its bounds), and with data of one group: circuits that are
 * new there belong to that condition.
 */
#include "judge/degenerate.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "graph/eval.h"
#include "graph/loop.h"

/* Fraction of a column that may remain when it depends on others: rounding is 1e-19 of it, times the condition of
 * the basis; independent columns leave much more than this. */
static const long double DEPENDENT = 1e-13L;
/* Coefficients (of columns of unit length) below this are rounding. */
static const long double ABSENT = 1e-9L;
/* Factor on the running error: double has 53 bits, the evaluator 64; 64 for sums over the circuit. */
static const long double ERROR_UNIT = 64 * 0x1p-64L;

enum { MAX_CIRCUITS = 64, CANDIDATES = 12 };

/* --- points ------------------------------------------------------------------------------------------- */

static double test_value(const struct hg_model *m, size_t offset, uint32_t k, double otherwise)
{
    for (uint32_t t = 0; t < m->ntest; t++) {
        const double *x = *(double *const *)((const char *)&m->test[t] + offset);
        if (x && isfinite(x[k]) && x[k] != 0.0) /* exactly zero tells nothing of the size */
            return x[k];
    }
    return isfinite(otherwise) && otherwise != 0.0 ? otherwise : 1.0;
}

static int is_degree(const char *unit)
{
    return unit && strcmp(unit, "deg") == 0;
}

/* Incommensurable numbers, so that the choice of points creates no dependence. */
static void choose_points(struct hg_probe *p)
{
    static const double angle[HG_GROUPS] = {13.37, 48.21, 101.93}, scale[HG_GROUPS] = {0.71, 1, 1.37};
    struct hg_model *m = p->m;
    struct hg_arena *a = m->expr->arena;
    p->step = m->ntest && m->test[0].step > 0 ? m->test[0].step : 0.1;
    for (uint32_t k = 0; k < HG_FRAMES; k++)
        p->time[k] = p->step * (k + 1);
    p->setting = hg_alloc(a, (m->setting.n + 1) * sizeof *p->setting);
    for (uint32_t k = 0; k < m->setting.n; k++)
        p->setting[k] = test_value(m, offsetof(struct hg_test, setting), k, m->setting.item[k].start);
    for (uint32_t g = 0; g < HG_GROUPS; g++) {
        p->coord[g] = hg_alloc(a, (m->axis.n + 1) * sizeof **p->coord);
        p->linear[g] = hg_alloc(a, (m->linear.n + 1) * sizeof **p->linear);
        for (uint32_t k = 0; k < m->axis.n; k++)
            p->coord[g][k] = m->axis.item[k].lower < m->axis.item[k].upper
                                 ? hg_model_between(&m->axis.item[k], (g + 0.5) / HG_GROUPS)
                             : is_degree(m->axis.item[k].unit)
                                 ? angle[g] + 7 * k
                                 : scale[g] * test_value(m, offsetof(struct hg_test, coord), k, 1.0);
        for (uint32_t k = 0; k < m->linear.n; k++) {
            double over = m->linear.item[k].over >= 0 ? 1 - 0.07 * g : 1;
            p->linear[g][k] = over * test_value(m, offsetof(struct hg_test, linear), k, m->linear.item[k].start);
        }
    }
    for (uint32_t r = 0; r < HG_ROWS; r++) {
        p->row[r] = hg_alloc(a, (m->column.n + 1) * sizeof **p->row);
        for (uint32_t k = 0; k < m->column.n; k++) { /* golden section: well spread in every column */
            double u = fmod((r + 0.5) * (k ? 0.7548776662466927 + 0.1 * k : 0.6180339887498949), 1.0);
            p->row[r][k] = test_value(m, offsetof(struct hg_test, column), k, 1.0) * (0.05 + 2.5 * u);
        }
    }
}

static hg_id leaf_of(const struct hg_probe *p, uint32_t k)
{
    return k < p->nparam ? hg_symbol(p->m->expr, HG_PARAM, k) : hg_symbol(p->m->expr, HG_LINEAR, k - p->nparam);
}

void hg_probe_open(struct hg_probe *p, struct hg_model *m, hg_id mean)
{
    *p = (struct hg_probe){.m = m, .mean = mean, .nparam = m->param.n, .nlinear = m->linear.n};
    uint32_t n = p->nparam + p->nlinear;
    p->nset = m->nscreen < HG_SETS ? m->nscreen : HG_SETS;
    for (uint32_t s = 0; s < p->nset; s++)
        p->choice[s] = s;
    p->root = hg_alloc(m->expr->arena, (n + 1) * sizeof *p->root);
    p->root[0] = mean;
    for (uint32_t k = 0; k < n; k++)
        p->root[k + 1] = hg_diff(m->expr, mean, leaf_of(p, k));
    p->eval = hg_eval_new(m->expr, n + 1, p->root);
    p->value = hg_eval_new(m->expr, 1, &p->mean);
    choose_points(p);
}

void hg_probe_close(struct hg_probe *p)
{
    hg_eval_free(p->eval);
    hg_eval_free(p->value);
}

double *hg_probe_set(const struct hg_probe *p, uint32_t s, double *theta)
{
    const double *row = p->m->screen + (size_t)p->choice[s] * p->nparam;
    for (uint32_t k = 0; k < p->nparam; k++) {
        const struct hg_symbol_decl *x = &p->m->param.item[k];
        double width = isfinite(x->upper - x->lower) ? 1e-4 * (x->upper - x->lower) : 0.1;
        int constant = 1;
        for (uint32_t i = 1; i < p->nset; i++)
            constant &= p->m->screen[i * p->nparam + k] == p->m->screen[k];
        theta[k] = row[k];
        if (!constant) /* otherwise at its start in every set: moved, so that no result depends on that value */
            continue;
        theta[k] += (1.1 + p->choice[s] % 4) * (row[k] != 0.0 ? 0.03 * fabs(row[k]) : width);
        if (theta[k] > x->upper)
            theta[k] = row[k] - (theta[k] - row[k]);
    }
    return theta;
}

/* For one group all 45 pairs of frames; for several 17: close ones, distant ones, and both ends. */
static int wanted_pair(uint32_t i, uint32_t j, uint32_t ngroup)
{
    return ngroup == 1 || j == i + 1 || (i + 2 * j) % 5 == 0 || (i == 0 && j == HG_FRAMES - 1);
}

void hg_probe_run(const struct hg_probe *p, struct hg_eval *ev, const double *theta, uint32_t ngroup,
                  hg_probe_visit *visit, void *user)
{
    struct hg_point at = {.param = theta, .setting = p->setting, .time = p->time, .ntime = HG_FRAMES, .step = p->step};
    int pairs = p->m->space == FIT_PAIRS;
    uint32_t n = pairs || p->m->axis.n ? ngroup : 1; /* rows are dealt out to the groups */
    for (uint32_t g = 0; g < n; g++) {
        int first = 1;
        at.coord = p->coord[g];
        at.linear = p->linear[g];
        for (uint32_t i = pairs ? 0 : g; i < (pairs ? HG_FRAMES - 1 : HG_ROWS); i += pairs ? 1 : n)
            for (uint32_t j = pairs ? i + 1 : i; j < (pairs ? HG_FRAMES : i + 1); j++) {
                if (pairs && !wanted_pair(i, j, ngroup))
                    continue;
                at.i = pairs ? i : 0;
                at.j = pairs ? j : 0;
                at.column = p->row[pairs ? 0 : i];
                at.history = p->m->expr->march ? (const double *const *)p->row : NULL;
                at.nhistory = pairs ? 0 : i;
                if (first || p->m->expr->march)
                    hg_eval_run(ev, &at);
                else
                    hg_eval_pair(ev, &at);
                first = 0;
                if (visit(user, ev, g))
                    return;
            }
    }
}

/* --- branches ----------------------------------------------------------------------------------------- */

struct reached {
    const struct hg_probe *p;
    unsigned char *node;  /* at the current point, from the mean down */
    unsigned char *param; /* at any point */
};

static int note_reached(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct reached *r = user;
    const struct hg_expr *e = r->p->m->expr;
    (void)group;
    memset(r->node, 0, r->p->mean + 1);
    r->node[r->p->mean] = 1;
    for (hg_id id = r->p->mean; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        int choice = x->op == HG_WHERE || x->op == HG_GUARD;
        if (!r->node[id])
            continue;
        if (x->op == HG_PARAM || x->op == HG_LINEAR)
            r->param[x->ref + (x->op == HG_LINEAR ? r->p->nparam : 0)] = 1;
        for (uint32_t k = 0; k < (choice ? 1 : x->nargs); k++)
            r->node[x->arg[k]] = 1;
        for (uint32_t k = 0; choice && k < hg_extent(e, x->arg[0], HG_FRAMES); k++)
            r->node[x->arg[hg_eval_get(ev, x->arg[0], k).v != 0 ? 1 : 2]] = 1;
    }
    return 0;
}

static void find_unseen(struct hg_probe *p, uint32_t ngroup, unsigned char *unseen)
{
    struct hg_arena *a = p->m->expr->arena;
    double *theta = hg_alloc(a, (p->nparam + 1) * sizeof *theta);
    struct reached r = {p, hg_alloc(a, p->mean + 1), hg_alloc(a, p->nparam + p->nlinear + 1)};
    for (uint32_t s = 0; s < p->nset; s++)
        hg_probe_run(p, p->value, hg_probe_set(p, s, theta), ngroup, note_reached, &r);
    for (uint32_t k = 0; k < p->nparam + p->nlinear; k++)
        unseen[k] = !r.param[k] && hg_contains(p->m->expr, p->mean, leaf_of(p, k));
}

/* --- the Jacobian ------------------------------------------------------------------------------------- */

/* Column-major; columns: linear parameters (one per group when they are `over` it), then parameters. */
struct matrix {
    const struct hg_probe *p;
    uint32_t rows, columns, room, ngroup;
    long double *a, *e;  /* entries and their errors */
    uint32_t *parameter; /* of a column: k, or nparam + q */
};

static uint32_t linear_column(const struct matrix *m, uint32_t q, uint32_t g)
{
    return m->p->m->linear.item[q].over >= 0 ? q * m->ngroup + g : q * m->ngroup;
}

static int add_row(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct matrix *m = user;
    const struct hg_probe *p = m->p;
    uint32_t r = m->rows;
    if (r == m->room || !isfinite(hg_eval_get(ev, p->root[0], 0).v))
        return 0;
    for (uint32_t c = 0; c < m->columns; c++)
        m->a[c * m->room + r] = m->e[c * m->room + r] = 0;
    for (uint32_t k = 0; k < p->nparam + p->nlinear; k++) {
        struct hg_num x = hg_eval_get(ev, p->root[k + 1], 0);
        uint32_t c = k < p->nparam ? p->nlinear * m->ngroup + k : linear_column(m, k - p->nparam, group);
        if (!isfinite(x.v) || !isfinite(x.e))
            return 0;
        m->a[c * m->room + r] = x.v;
        m->e[c * m->room + r] = x.e + fabsl(x.v);
    }
    m->rows++;
    return 0;
}

static void matrix_new(struct matrix *m, const struct hg_probe *p)
{
    struct hg_arena *a = p->m->expr->arena;
    *m = (struct matrix){.p = p, .room = p->m->space == FIT_PAIRS ? 64 : HG_ROWS};
    uint32_t most = p->nlinear * HG_GROUPS + p->nparam;
    m->a = hg_alloc(a, (size_t)m->room * (most + 1) * sizeof *m->a);
    m->e = hg_alloc(a, (size_t)m->room * (most + 1) * sizeof *m->e);
    m->parameter = hg_alloc(a, (most + 1) * sizeof *m->parameter);
}

/* 0 when too few points are finite for a conclusion. */
static int fill(struct matrix *m, const double *theta, uint32_t ngroup)
{
    const struct hg_probe *p = m->p;
    m->ngroup = p->m->space == FIT_PAIRS || p->m->axis.n ? ngroup : 1;
    m->columns = p->nlinear * m->ngroup + p->nparam;
    m->rows = 0;
    for (uint32_t c = 0; c < m->columns; c++)
        m->parameter[c] = c < p->nlinear * m->ngroup ? p->nparam + c / m->ngroup : c - p->nlinear * m->ngroup;
    if (m->columns + 4 <= m->room)
        hg_probe_run(p, p->eval, theta, ngroup, add_row, m);
    return m->rows >= m->columns + 4;
}

static long double length(const long double *x, uint32_t n)
{
    long double s = 0;
    for (uint32_t k = 0; k < n; k++)
        s = fmaxl(s, fabsl(x[k]));
    return s;
}

/* Scales rows and columns to a largest entry of 1: a factor per row or column changes no dependence. scale: of the
 * columns. */
static void equilibrate(struct matrix *m, long double *scale)
{
    for (uint32_t c = 0; c < m->columns; c++)
        scale[c] = 1;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t c = 0; c < m->columns; c++) {
            long double s = length(m->a + (size_t)c * m->room, m->rows);
            for (uint32_t r = 0; s > 0 && r < m->rows; r++) {
                m->a[c * m->room + r] /= s;
                m->e[c * m->room + r] /= s;
            }
            scale[c] *= s > 0 ? s : 1;
        }
        for (uint32_t r = 0; r < m->rows && pass < 2; r++) {
            long double s = 0;
            for (uint32_t c = 0; c < m->columns; c++)
                s = fmaxl(s, fabsl(m->a[c * m->room + r]));
            for (uint32_t c = 0; s > 0 && c < m->columns; c++) {
                m->a[c * m->room + r] /= s;
                m->e[c * m->room + r] /= s;
            }
        }
    }
}

/* --- circuits ----------------------------------------------------------------------------------------- */

struct circuit {
    uint32_t n, param[HG_CIRCUIT];
    double c[HG_CIRCUIT]; /* coefficients; that of the last parameter is 1 */
    long double leaves;   /* part of the last column that remains */
};

struct circuits {
    uint32_t n;
    struct circuit item[MAX_CIRCUITS];
};

/* Does the combination vanish within its error bound, in every row? */
static int vanishes(const struct matrix *m, uint32_t last, const long double *c)
{
    for (uint32_t r = 0; r < m->rows; r++) {
        long double sum = m->a[last * m->room + r], bound = m->e[last * m->room + r];
        for (uint32_t k = 0; k < last; k++) {
            sum += c[k] * m->a[k * m->room + r];
            bound += fabsl(c[k]) * m->e[k * m->room + r];
        }
        if (!(fabsl(sum) <= ERROR_UNIT * bound))
            return 0;
    }
    return 1;
}

static void add_circuit(struct circuits *all, const struct matrix *m, uint32_t last, const long double *c,
                        const long double *scale)
{
    struct circuit *x = &all->item[all->n];
    *x = (struct circuit){0};
    if (all->n == MAX_CIRCUITS)
        return;
    for (uint32_t k = 0; k <= last; k++) {
        uint32_t p = m->parameter[k];
        if (k < last && fabsl(c[k]) <= ABSENT)
            continue;
        if (x->n && x->param[x->n - 1] == p) /* a linear parameter of another group */
            continue;
        if (x->n == HG_CIRCUIT)
            return;
        x->param[x->n] = p;
        x->c[x->n++] = k < last ? (double)(c[k] * scale[last] / scale[k]) : 1;
    }
    all->n++;
}

/* Orthonormal q[rank], the columns of the matrix that they span, and R: column[d] is the sum of R[d n + b] q[b]. */
struct basis {
    uint32_t n, rank, *column; /* n: columns of the matrix */
    long double *q, *R, *rest; /* rest: of the column that was projected last, with the squares of */
    long double norm, left;    /* the column, and of the rest */
};

static void basis_new(struct basis *b, const struct matrix *m)
{
    struct hg_arena *a = m->p->m->expr->arena;
    const uint32_t n = m->columns;
    *b = (struct basis){.n = n, .column = hg_alloc(a, (n + 1) * sizeof *b->column)};
    b->q = hg_alloc(a, (size_t)m->rows * (n + 1) * sizeof *b->q);
    b->R = hg_alloc(a, (size_t)(n + 1) * (n + 1) * sizeof *b->R);
    b->rest = hg_alloc(a, m->rows * sizeof *b->rest);
}

/* Gram-Schmidt, twice; the next row of R: the coefficients of q in column k. */
static long double *project(struct basis *b, const struct matrix *m, uint32_t k)
{
    long double *x = b->rest, *r = b->R + (size_t)b->rank * b->n;
    b->norm = b->left = 0;
    for (uint32_t i = 0; i < m->rows; i++) {
        x[i] = m->a[k * m->room + i];
        b->norm += x[i] * x[i];
    }
    memset(r, 0, b->n * sizeof *r);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t d = 0; d < b->rank; d++) {
            long double t = 0;
            for (uint32_t i = 0; i < m->rows; i++)
                t += b->q[d * m->rows + i] * x[i];
            for (uint32_t i = 0; i < m->rows; i++)
                x[i] -= t * b->q[d * m->rows + i];
            r[d] += t;
        }
    for (uint32_t i = 0; i < m->rows; i++)
        b->left += x[i] * x[i];
    return r;
}

/* Column k, which was projected, becomes the last of the basis. */
static void extend(struct basis *b, const struct matrix *m, uint32_t k)
{
    for (uint32_t i = 0; i < m->rows; i++)
        b->q[b->rank * m->rows + i] = b->rest[i] / sqrtl(b->left);
    b->R[(size_t)b->rank * b->n + b->rank] = sqrtl(b->left);
    b->column[b->rank++] = k;
}

/* A column with coefficients r is the sum of -c times the columns of the basis. */
static void combine(const struct basis *b, const long double *r, long double *c)
{
    memset(c, 0, b->n * sizeof *c);
    for (uint32_t d = b->rank; d-- > 0;) {
        long double t = r[d];
        for (uint32_t e = d + 1; e < b->rank; e++)
            t += c[b->column[e]] * b->R[(size_t)e * b->n + d];
        c[b->column[d]] = -t / b->R[(size_t)d * b->n + d];
    }
}

/* c of column k again, with the columns of its circuit alone: those with other columns have an error that the condition
 * of the whole basis makes larger than the bound in rows with small entries. */
static void combine_circuit(struct basis *alone, const struct matrix *m, uint32_t k, long double *c)
{
    alone->rank = 0;
    for (uint32_t d = 0; d < k; d++)
        if (fabsl(c[d]) > ABSENT) {
            project(alone, m, d);
            extend(alone, m, d);
        }
    combine(alone, project(alone, m, k), c);
}

static void find_circuits(struct matrix *m, struct circuits *all)
{
    struct hg_arena *a = m->p->m->expr->arena;
    const uint32_t n = m->columns;
    long double *c = hg_alloc(a, (n + 1) * sizeof *c), *scale = hg_alloc(a, (n + 1) * sizeof *scale);
    struct basis basis, alone;
    basis_new(&basis, m);
    basis_new(&alone, m);
    all->n = 0;
    equilibrate(m, scale);
    for (uint32_t k = 0; k < n; k++) {
        const long double *r = project(&basis, m, k);
        if (basis.norm > 0 && basis.left > DEPENDENT * DEPENDENT * basis.norm) {
            extend(&basis, m, k);
            continue;
        }
        if (basis.norm == 0 && m->parameter[k] >= m->p->nparam)
            continue; /* one column serves a linear parameter without groups */
        combine(&basis, r, c);
        combine_circuit(&alone, m, k, c);
        if (vanishes(m, k, c))
            add_circuit(all, m, k, c, scale);
    }
}

static int same_circuit(const struct circuit *a, const struct circuit *b)
{
    return a->n == b->n && memcmp(a->param, b->param, a->n * sizeof *a->param) == 0;
}

static const struct circuit *find_circuit(const struct circuits *all, const struct circuit *x)
{
    for (uint32_t k = 0; k < all->n; k++)
        if (same_circuit(&all->item[k], x))
            return &all->item[k];
    return NULL;
}

/* --- scenarios ---------------------------------------------------------------------------------------- */

struct search {
    struct hg_probe probe;
    struct matrix matrix;
    struct hg_degeneracies *all;
    struct circuits generic, at[HG_SETS], beside; /* everywhere; at each set of the current scenario */
    double *theta;
    int told; /* the sizes of settings and data are known; otherwise only proven degeneracies are reported */
};

/* Circuits at random set s; 0 when the model cannot be evaluated there. */
static int circuits_at(struct search *w, uint32_t s, int condition, double value, uint32_t ngroup, struct circuits *out)
{
    hg_probe_set(&w->probe, s, w->theta);
    if (condition >= 0)
        w->theta[condition] = value;
    out->n = 0;
    if (!fill(&w->matrix, w->theta, ngroup))
        return 0;
    find_circuits(&w->matrix, out);
    return 1;
}

/* The sets with the fewest circuits: at the others a floor or a limit removes some dependence. */
static void choose_sets(struct search *w)
{
    struct hg_probe *p = &w->probe;
    uint32_t most = p->m->nscreen < CANDIDATES ? p->m->nscreen : CANDIDATES, count[CANDIDATES], n = 0;
    for (uint32_t s = 0; s < most; s++) {
        p->choice[0] = s;
        count[s] = circuits_at(w, 0, -1, 0, HG_GROUPS, &w->beside) ? w->beside.n : MAX_CIRCUITS + 1;
    }
    for (uint32_t c = 0; c <= MAX_CIRCUITS + 1; c++)
        for (uint32_t s = 0; s < most && n < p->nset; s++)
            if (count[s] == c)
                p->choice[n++] = s;
}

/* One sentence reports all parameters of the scenario that have no effect. */
static struct hg_degeneracy *find_single(struct hg_degeneracies *all, enum fit_degeneracy_kind kind, int condition,
                                         double value)
{
    for (uint32_t k = 0; k < all->n; k++) {
        struct hg_degeneracy *d = &all->item[k];
        if (d->each && d->kind == kind && d->condition == condition && d->value == value)
            return d;
    }
    return NULL;
}

static void add_degeneracy(struct search *w, const struct hg_degeneracy *like, const struct circuit *x, const double *c)
{
    struct hg_degeneracies *all = w->all;
    struct hg_arena *a = w->probe.m->expr->arena;
    struct hg_degeneracy d = *like, *old = x->n == 1 ? find_single(all, d.kind, d.condition, d.value) : NULL;
    d.n = (old ? old->n : 0) + x->n;
    d.each = x->n == 1;
    d.param = hg_alloc(a, (d.n + 1) * sizeof *d.param);
    if (old) {
        memcpy(d.param, old->param, old->n * sizeof *d.param);
        d.text = old->text;
        d.proved = old->proved;
    }
    memcpy(d.param + d.n - x->n, x->param, x->n * sizeof *d.param);
    hg_degenerate_name(&w->probe, all, &d, c);
    if (!d.proved && !w->told)
        return;
    if (old) {
        *old = d;
        return;
    }
    all->item = hg_grow(a, all->item, all->n, all->n + 1, sizeof d, &all->room);
    all->item[all->n++] = d;
}

/* 1 when the circuit persists slightly beside the value: then it belongs to a region (below a floor, where an
 * exponential is 0), not to the value. */
static int is_regional(struct search *w, int condition, double value, const struct circuit *x)
{
    const struct hg_symbol_decl *s = &w->probe.m->param.item[condition];
    double h = 0.01 * (value != 0.0 ? fabs(value) : 1.0); /* exactly zero: no scale */
    double beside = value + h <= s->upper ? value + h : value - h;
    return circuits_at(w, 0, condition, beside, HG_GROUPS, &w->beside) && find_circuit(&w->beside, x);
}

/* A parameter of priors, which data cannot determine in any case. */
static int is_hyper(const struct hg_model *m, uint32_t k)
{
    return k < m->param.n && m->param.item[k].hyper && !hg_model_uses(m, m->param.item[k].node);
}

/* Circuits that occur at every set of the scenario but not everywhere. */
static void scenario(struct search *w, enum fit_degeneracy_kind kind, int condition, double value)
{
    uint32_t ngroup = kind == FIT_DEGENERATE_ONE_GROUP ? 1 : HG_GROUPS, nset = w->probe.nset, fresh = 0;
    struct hg_degeneracy like = {.kind = kind, .condition = condition, .value = value, .held = -1, .inside = 1};
    if (!circuits_at(w, 0, condition, value, ngroup, &w->at[0]))
        return;
    for (uint32_t k = 0; k < w->at[0].n; k++)
        fresh += !find_circuit(&w->generic, &w->at[0].item[k]);
    for (uint32_t s = 1; s < nset && fresh; s++)
        if (!circuits_at(w, s, condition, value, ngroup, &w->at[s]))
            return;
    for (uint32_t k = 0; k < w->at[0].n && fresh; k++) {
        const struct circuit *x = &w->at[0].item[k];
        if (x->n == 1 && is_hyper(w->probe.m, x->param[0]))
            continue;
        double c[HG_SETS * HG_CIRCUIT];
        int every = !find_circuit(&w->generic, x);
        for (uint32_t i = 0; i < x->n; i++)
            every &= !w->probe.unseen[ngroup == 1][x->param[i]];
        for (uint32_t i = 0; i < x->n; i++) /* dependence to first order at a point does not make a degenerate set */
            every &= condition < 0 || x->param[i] != (uint32_t)condition;
        for (uint32_t s = 0; s < nset && every; s++) {
            const struct circuit *y = find_circuit(&w->at[s], x);
            every = y != NULL;
            if (y)
                memcpy(c + s * x->n, y->c, x->n * sizeof *c);
        }
        if (every && !(condition >= 0 && is_regional(w, condition, value, x)))
            add_degeneracy(w, &like, x, c);
    }
}

static void special_values(struct search *w)
{
    static const double some[] = {0, 1, -1};
    const struct hg_list *list = &w->probe.m->param;
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        double value[5] = {0};
        uint32_t n = 0;
        for (size_t i = 0; i < sizeof some / sizeof *some; i++)
            if (some[i] >= s->lower && some[i] <= s->upper)
                value[n++] = some[i];
        for (int end = 0; end < 2; end++) {
            double x = end ? s->upper : s->lower;
            int known = !isfinite(x);
            for (uint32_t i = 0; i < n && !known; i++)
                known = value[i] == x; /* the same literal */
            if (!known)
                value[n++] = x;
        }
        for (uint32_t i = 0; i < n; i++)
            scenario(w, FIT_DEGENERATE_AT_VALUE, (int)k, value[i]);
    }
}

const struct hg_degeneracies *hg_degenerate(struct hg_model *m, const struct hg_variant *v)
{
    enum { NODES = 9 }; /* dependences do not change with the number of nodes of a rule */
    hg_id root = hg_loop_thinned(m->expr, NODES, m->density ? m->density->node : v->mean); /* what data see */
    struct hg_degeneracies *all = hg_alloc(m->expr->arena, sizeof *all);
    struct search *w = hg_alloc(m->expr->arena, sizeof *w);
    if (m->param.n == 0 || m->nscreen == 0)
        return all;
    w->all = all;
    w->told = hg_model_sizes_told(m, NULL);
    w->theta = hg_alloc(m->expr->arena, (m->param.n + 1) * sizeof *w->theta);
    hg_probe_open(&w->probe, m, root);
    matrix_new(&w->matrix, &w->probe);
    choose_sets(w);
    for (int one = 0; one < 2; one++) {
        w->probe.unseen[one] = hg_alloc(m->expr->arena, m->param.n + m->linear.n + 1);
        find_unseen(&w->probe, one ? 1 : HG_GROUPS, w->probe.unseen[one]);
    }
    scenario(w, FIT_DEGENERATE_EVERYWHERE, -1, 0);
    w->generic = w->at[0];
    special_values(w);
    if (m->axis.n)
        scenario(w, FIT_DEGENERATE_ONE_GROUP, -1, 0);
    if (w->told)
        hg_mirrors(&w->probe, all);
    hg_probe_close(&w->probe);
    return all;
}

void hg_degenerate_print(const struct hg_degeneracies *d, FILE *out)
{
    for (uint32_t k = 0; k < d->n; k++) {
        const struct hg_degeneracy *x = &d->item[k];
        fprintf(out, "%s: %s (%s%s)\n", x->kind >= FIT_DEGENERATE_MIRROR ? "mirror" : "not identified", x->text,
                x->proved ? "proved by simplification" : "evaluated within rounding",
                x->inside ? "" : "; the mirrored set is outside the bounds");
    }
}
