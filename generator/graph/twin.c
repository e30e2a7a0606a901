/* twin.c -- the graph evaluated twice at once, in double and in extended precision. */
#include "graph/twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "graph/functions.h"
#include "graph/loop.h"
#include "graph/marcher.h"

struct hg_twins {
    const struct hg_expr *e;
    hg_id n;
    unsigned char *need;    /* 1: for derivatives, 2: for values; 4: leaf bound by the caller */
    struct hg_twin *one;    /* nodes that are no functions of time */
    struct hg_twin **table; /* functions of time; nodes that vary with turns of a sum (loop.h) */
    double **wide;          /* of integrals that values need: the rounding remainders */
    double *slope, **slopes;/* of the root last swept */
    uint32_t ntime;
    const struct hg_point *at;
    struct hg_wide_marcher *march; /* where states are needed */
};

struct hg_twins *hg_twins_new(const struct hg_expr *e, uint32_t nroot, const hg_id *root, uint32_t nvalue,
                              uint32_t nleaf, const hg_id *leaf)
{
    struct hg_twins *t = hg_zeros(1, sizeof *t);
    t->e = e;
    t->n = e->n;
    t->need = hg_zeros(e->n, 1);
    t->one = hg_zeros(e->n, sizeof *t->one);
    t->table = hg_zeros(e->n, sizeof *t->table);
    t->wide = hg_zeros(e->n, sizeof *t->wide);
    t->slope = hg_zeros(e->n, sizeof *t->slope);
    t->slopes = hg_zeros(e->n, sizeof *t->slopes);
    for (uint32_t k = 0; k < nleaf; k++)
        t->need[leaf[k]] = 4;
    for (uint32_t k = 0; k < nroot; k++)
        t->need[root[k]] |= k < nvalue ? 2 : 1;
    for (hg_id id = e->n - 1; id > 0; id--)
        for (uint32_t k = 0; (t->need[id] & 3) && !(t->need[id] & 4) && k < hg_at(e, id)->nargs; k++)
            t->need[hg_at(e, id)->arg[k]] |= t->need[id] & 3;
    for (hg_id id = 1; id < e->n && !t->march; id++)
        if ((t->need[id] & 3) && !(t->need[id] & 4) && hg_at(e, id)->op == HG_STATE)
            t->march = hg_wide_marcher_new(e, 1);
    return t;
}

static void free_tables(struct hg_twins *t)
{
    for (hg_id id = 0; id < t->n; id++) {
        free(t->table[id]);
        free(t->wide[id]);
        free(t->slopes[id]);
        t->table[id] = NULL;
        t->wide[id] = NULL;
        t->slopes[id] = NULL;
    }
}

void hg_twins_free(struct hg_twins *t)
{
    if (!t)
        return;
    hg_wide_marcher_free(t->march);
    free_tables(t);
    free(t->slopes);
    free(t->slope);
    free(t->wide);
    free(t->table);
    free(t->one);
    free(t->need);
    free(t);
}

void hg_twins_bind(struct hg_twins *t, hg_id leaf, double value)
{
    t->one[leaf] = (struct hg_twin){value, hg_ext(value)};
}

/* --- operations in double ------------------------------------------------------------------------------ */

static double pow_double(double a, double b)
{
    int n = (int)fabs(b);
    if (b == rint(b) && n >= 1 && n <= 4) {
        double r = n == 1 ? a : n == 2 ? a * a : n == 3 ? a * a * a : (a * a) * (a * a);
        return b < 0 ? 1 / r : r;
    }
    if (b == 0.5 || b == -0.5)
        return b > 0 ? sqrt(a) : 1 / sqrt(a);
    return hg_value_pow(a, b);
}

/* For doubles: rounded once, for the compiler has no double form; its error is in hg_many_error. */
static double many_double(const struct hg_node *n, const double *x)
{
    struct hg_ext operand[4];
    for (uint32_t k = 0; k < n->nargs; k++)
        operand[k] = hg_ext(x[k]);
    return hg_ext_round(hg_many_value(n->op, operand));
}

static struct hg_ext many_exact(const struct hg_node *n, const struct hg_twin *x)
{
    struct hg_ext operand[4];
    for (uint32_t k = 0; k < n->nargs; k++)
        operand[k] = x[k].x;
    return hg_many_value(n->op, operand);
}

static double apply_double(const struct hg_node *n, const double *x)
{
    double s = 0;
    switch (n->op) {
    case HG_SUM:
        for (uint32_t k = 0; k < n->nargs; k++)
            s += x[k];
        return s;
    case HG_PROD:
        s = 1;
        for (uint32_t k = 0; k < n->nargs; k++)
            s *= x[k];
        return s;
    case HG_POW: return pow_double(x[0], x[1]);
    case HG_LT: return x[0] < x[1];
    case HG_LE: return x[0] <= x[1];
    case HG_WHERE: return x[0] != 0 ? x[1] : x[2];
    case HG_HOLD: return x[0];
    case HG_ATAN2: return hg_value_atan2(x[0], x[1]);
    default: return hg_many(n->op) ? many_double(n, x) : hg_value(n->op, x[0]);
    }
}

/* --- operations in extended precision ------------------------------------------------------------------- */

static struct hg_ext apply_exact(const struct hg_node *n, const struct hg_twin *x, double f)
{
    struct hg_ext s = x[0].x;
    switch (n->op) {
    case HG_SUM:
        for (uint32_t k = 1; k < n->nargs; k++)
            s = hg_ext_add(s, x[k].x);
        return s;
    case HG_PROD:
        for (uint32_t k = 1; k < n->nargs; k++)
            s = hg_ext_mul(s, x[k].x);
        return s;
    case HG_POW: return hg_ext_pow(x[0].x, x[1].x);
    case HG_LT:
    case HG_LE:
    case HG_SIGN: return hg_ext(f); /* the way of the double */
    case HG_WHERE: return x[0].f != 0 ? x[1].x : x[2].x;
    case HG_HOLD: return x[0].x;
    case HG_ATAN2: return hg_ext_atan2(x[0].x, x[1].x);
    default: return hg_many(n->op) ? many_exact(n, x) : hg_ext_function(n->op, x[0].x);
    }
}

static struct hg_twin leaf_value(const struct hg_twins *t, hg_id id, size_t k)
{
    const struct hg_node *n = hg_at(t->e, id);
    const struct hg_point *p = t->at;
    double v;
    switch (n->op) {
    case HG_CONST: v = n->value; break;
    case HG_PARAM: v = p->param[n->ref]; break;
    case HG_LINEAR: v = p->linear[n->ref]; break;
    case HG_SETTING: v = p->setting[n->ref]; break;
    case HG_COORD: v = p->coord[n->ref]; break;
    case HG_COLUMN: v = p->column[n->ref]; break;
    case HG_STEP: v = p->step; break;
    case HG_TIME: v = p->time[k]; break;
    case HG_INDEX: v = (double)k; break;
    case HG_NODE: v = hg_node_numbers(t->e, n)[k]; break;
    default: hg_bug("twin: no leaf %s", hg_op_text[n->op]);
    }
    return (struct hg_twin){v, hg_ext(v)};
}

static struct hg_twin pick(const struct hg_twins *t, hg_id id, size_t k)
{
    return t->table[id] ? t->table[id][k] : t->one[id];
}

static struct hg_twin difference(const struct hg_twins *t, hg_id P)
{
    uint32_t i = t->at->i, j = t->at->j;
    struct hg_twin a = t->table[P][i], b = t->table[P][j];
    double f = b.f - a.f + (t->wide[P] ? t->wide[P][j] - t->wide[P][i] : 0);
    return (struct hg_twin){f, hg_ext_sub(b.x, a.x)};
}

enum { SMALL = 8 };

static struct hg_twin sum_of_turns(const struct hg_twins *t, const struct hg_node *n, size_t k)
{
    struct hg_twin r = {0, {0, 0}};
    for (uint32_t turn = 0; turn < hg_turns(t->e, n); turn++) {
        struct hg_twin x = pick(t, n->arg[1], hg_turn(t->e, n, k, turn));
        r.f += x.f;
        r.x = hg_ext_add(r.x, x.x);
    }
    return r;
}

/* A state is given, like a column: only the nodes made of it are checked here. It has the same bits on every machine,
 * since their errors, which emitted files tell, depend on its last ones. */
static struct hg_twin state_value(const struct hg_twins *t, hg_id id)
{
    const struct hg_node *n = hg_at(t->e, id);
    double *arg = hg_zeros(n->nargs, sizeof *arg);
    for (uint32_t m = 1; m < n->nargs; m++)
        arg[m] = pick(t, n->arg[m], 0).f;
    const double v = hg_wide_marcher_double(t->march, hg_state_at(t->e, id), arg, t->at);
    free(arg);
    return (struct hg_twin){v, hg_ext(v)};
}

static struct hg_twin pointwise(const struct hg_twins *t, hg_id id, size_t k)
{
    const struct hg_node *n = hg_at(t->e, id);
    struct hg_twin some[SMALL], *x = n->nargs <= SMALL ? some : hg_zeros(n->nargs, sizeof *x), r;
    double plain[SMALL], *f = n->nargs <= SMALL ? plain : hg_zeros(n->nargs, sizeof *f);
    if (n->nargs == 0)
        return leaf_value(t, id, k);
    switch (n->op) {
    case HG_AT_I: r = t->table[n->arg[0]][t->at->i]; break;
    case HG_AT_J: r = t->table[n->arg[0]][t->at->j]; break;
    case HG_DELTA: r = difference(t, n->arg[0]); break;
    case HG_REDUCE: r = sum_of_turns(t, n, k); break;
    case HG_STATE: r = state_value(t, id); break;
    default:
        for (uint32_t m = 0; m < n->nargs; m++) {
            x[m] = pick(t, n->arg[m], hg_place(t->e, n, k, hg_at(t->e, n->arg[m])));
            f[m] = x[m].f;
        }
        r.f = apply_double(n, f);
        r.x = apply_exact(n, x, r.f);
    }
    if (x != some)
        free(x);
    if (f != plain)
        free(f);
    return r;
}

/* The error of s = a + b with the sign changed: Knuth, 4.2.2, theorem B. */
static double rounding_of(double a, double b, double s)
{
    const double t = s - a;
    return (a - (s - t)) + (b - t);
}

static void normalise(double *high, double *low)
{
    const double s = *high + *low;
    *low -= s - *high;
    *high = s;
}

/* Cumulative trapezoid over the frame times. */
static void potential(struct hg_twins *t, hg_id id)
{
    hg_id f = hg_at(t->e, id)->arg[0];
    struct hg_twin *F = t->table[id];
    double *w = t->wide[id];
    F[0] = (struct hg_twin){0, {0, 0}};
    if (w)
        w[0] = 0;
    for (uint32_t k = 1; k < t->ntime; k++) {
        struct hg_twin a = pick(t, f, k - 1), b = pick(t, f, k);
        double h = 0.5 * (t->at->time[k] - t->at->time[k - 1]), add = h * (a.f + b.f);
        struct hg_ext hx = hg_ext(0.5L * ((long double)t->at->time[k] - t->at->time[k - 1]));
        F[k].x = hg_ext_add(F[k - 1].x, hg_ext_mul(hx, hg_ext_add(a.x, b.x)));
        F[k].f = F[k - 1].f + add;
        if (w)
            w[k] = w[k - 1] + rounding_of(F[k - 1].f, add, F[k].f), normalise(&F[k].f, &w[k]);
    }
}

/* Operands of a node that varies with turns of sums: their positions, and the distance to the next turn. */
struct strided {
    const struct hg_twin *at;
    size_t row, column;
};

static void stride(const struct hg_twins *t, hg_id id, struct strided *x)
{
    const struct hg_node *n = hg_at(t->e, id);
    *x = (struct strided){t->table[id] ? t->table[id] : &t->one[id], 0, n->vary & HG_K2 ? 1 : 0};
    if (n->vary & HG_K1)
        x->row = n->vary & HG_K2 ? hg_loop_at(t->e, n->loop[1])->n : 1;
}

/* Computes all numbers of a node with operands that is not a sum. */
static void over_turns(struct hg_twins *t, hg_id id, size_t places)
{
    const struct hg_node *n = hg_at(t->e, id);
    const size_t columns = n->vary & HG_K2 ? hg_loop_at(t->e, n->loop[1])->n : 1;
    HG_SCRATCH struct strided *from = hg_zeros(n->nargs, sizeof *from);
    HG_SCRATCH struct hg_twin *x = hg_zeros(n->nargs, sizeof *x);
    HG_SCRATCH double *f = hg_zeros(n->nargs, sizeof *f);
    for (uint32_t m = 0; m < n->nargs; m++)
        stride(t, n->arg[m], &from[m]);
    for (size_t k = 0, row = 0, column = 0; k < places; k++) {
        for (uint32_t m = 0; m < n->nargs; m++) {
            x[m] = from[m].at[row * from[m].row + column * from[m].column];
            f[m] = x[m].f;
        }
        struct hg_twin *y = &t->table[id][k];
        y->f = apply_double(n, f);
        y->x = apply_exact(n, x, y->f);
        if (++column == columns)
            column = 0, row++;
    }
}

static void evaluate(struct hg_twins *t, hg_id id)
{
    const struct hg_node *n = hg_at(t->e, id);
    if (t->need[id] & 4)
        return;
    const size_t places = hg_extent(t->e, id, t->ntime);
    if (!(n->vary & (HG_T | HG_K))) {
        t->one[id] = pointwise(t, id, 0);
        return;
    }
    if (!t->table[id])
        t->table[id] = hg_zeros(places, sizeof **t->table);
    if (n->op == HG_POTENTIAL && (t->need[id] & 2) && !(n->vary & HG_G) && !t->wide[id])
        t->wide[id] = hg_zeros(t->ntime, sizeof **t->wide);
    if (n->op == HG_POTENTIAL)
        potential(t, id);
    else if ((n->vary & HG_K) && n->nargs && n->op != HG_REDUCE && !(n->vary & HG_T))
        over_turns(t, id, places);
    else
        for (size_t k = 0; k < places; k++)
            t->table[id][k] = pointwise(t, id, k);
}

/* Evaluates the node where it is needed and counts it as work. */
static void evaluate_needed(struct hg_twins *t, hg_id id)
{
    const struct hg_node *n = hg_at(t->e, id);
    if (!t->need[id])
        return;
    hg_steps(t->e, (1 + n->nargs) * (uint64_t)hg_extent(t->e, id, t->ntime) *
                       (n->op == HG_REDUCE ? hg_turns(t->e, n) : 1));
    evaluate(t, id);
}

void hg_twins_run(struct hg_twins *t, const struct hg_point *p)
{
    t->at = p;
    if (t->ntime != p->ntime)
        free_tables(t);
    t->ntime = p->ntime;
    for (hg_id id = 1; id < t->n; id++)
        evaluate_needed(t, id);
}

void hg_twins_pair(struct hg_twins *t, const struct hg_point *p)
{
    t->at = p;
    for (hg_id id = 1; id < t->n; id++)
        if (hg_at(t->e, id)->vary & (HG_I | HG_J | HG_R))
            evaluate_needed(t, id);
}

struct hg_twin hg_twins_get(const struct hg_twins *t, hg_id id, size_t k)
{
    return pick(t, id, k);
}

/* --- slopes -------------------------------------------------------------------------------------------- */

static double exact(const struct hg_twins *t, hg_id id, size_t k)
{
    return hg_ext_round(pick(t, id, k).x);
}

/* Operand m of a node at its k-th number. */
static double operand(const struct hg_twins *t, const struct hg_node *n, uint32_t m, size_t k)
{
    return exact(t, n->arg[m], hg_place(t->e, n, k, hg_at(t->e, n->arg[m])));
}

/* d node / d operand m at its k-th number; 0 where it is not finite or not defined. */
static double slope_of(const struct hg_twins *t, const struct hg_node *n, uint32_t m, size_t k)
{
    double a = operand(t, n, 0, k), b, s = 1;
    long double y, d;
    switch (n->op) {
    case HG_HOLD:
    case HG_SUM: return 1;
    case HG_PROD:
        for (uint32_t l = 0; l < n->nargs; l++)
            if (l != m)
                s *= operand(t, n, l, k);
        break;
    case HG_POW:
        b = operand(t, n, 1, k);
        s = m == 0 ? b * hg_value_pow(a, b - 1) : hg_value_pow(a, b) * hg_value(HG_LOG, a);
        break;
    case HG_LT:
    case HG_LE:
    case HG_STATE: return 0; /* its rounding is its own */
    case HG_WHERE: return m > 0 && (a != 0) == (m == 1);
    case HG_ATAN2:
        b = operand(t, n, 1, k);
        s = (m == 0 ? b : -a) / (a * a + b * b);
        break;
    default:
        if (hg_many(n->op)) {
            struct hg_ext operand[4];
            for (uint32_t l = 0; l < n->nargs; l++)
                operand[l] = hg_ext(exact(t, n->arg[l], k));
            s = (double)hg_many_slope(n->op, operand, m);
            break;
        }
        hg_eval_function(n->op, a, &y, &d);
        s = (double)d;
    }
    return isfinite(s) ? s : 0;
}

static double *slopes_of(struct hg_twins *t, hg_id id)
{
    if (!t->slopes[id])
        t->slopes[id] = hg_zeros(hg_extent(t->e, id, t->ntime), sizeof **t->slopes);
    return t->slopes[id];
}

static void add_slope(struct hg_twins *t, hg_id id, size_t k, double s)
{
    if (hg_at(t->e, id)->vary & (HG_T | HG_K) && !(t->need[id] & 4))
        slopes_of(t, id)[k] += s;
    else
        t->slope[id] += s;
}

/* s_k of the integral goes to all integrands before it. */
static void back_potential(struct hg_twins *t, hg_id id)
{
    hg_id f = hg_at(t->e, id)->arg[0];
    double sum = 0, *s = slopes_of(t, id);
    for (uint32_t k = t->ntime - 1; k > 0; k--) {
        double h = 0.5 * (t->at->time[k] - t->at->time[k - 1]);
        sum += s[k];
        add_slope(t, f, k, h * sum);
        add_slope(t, f, k - 1, h * sum);
    }
}

/* Passes the slope s of the k-th number of a node on to its operands. */
static void back_one(struct hg_twins *t, const struct hg_node *n, size_t k, double s)
{
    for (uint32_t m = 0; n->op != HG_REDUCE && s != 0 && m < n->nargs; m++)
        add_slope(t, n->arg[m], hg_place(t->e, n, k, hg_at(t->e, n->arg[m])), s * slope_of(t, n, m, k));
    for (uint32_t turn = 0; n->op == HG_REDUCE && s != 0 && turn < hg_turns(t->e, n); turn++)
        add_slope(t, n->arg[1], hg_turn(t->e, n, k, turn), s);
}

static void back(struct hg_twins *t, hg_id id)
{
    const struct hg_node *n = hg_at(t->e, id);
    double s = t->slope[id];
    if (t->need[id] & 4)
        return;
    if (n->op == HG_AT_I || n->op == HG_AT_J) {
        add_slope(t, n->arg[0], n->op == HG_AT_I ? t->at->i : t->at->j, s);
    } else if (n->op == HG_DELTA) {
        add_slope(t, n->arg[0], t->at->i, -s);
        add_slope(t, n->arg[0], t->at->j, s);
    } else if (n->op == HG_POTENTIAL) {
        back_potential(t, id);
    } else if (n->vary & (HG_T | HG_K)) {
        for (size_t k = 0; k < hg_extent(t->e, id, t->ntime); k++)
            back_one(t, n, k, t->slopes[id][k]);
    } else {
        back_one(t, n, 0, s);
    }
}

static int touched(const struct hg_twins *t, hg_id id)
{
    return t->slope[id] != 0 || t->slopes[id];
}

void hg_twins_sweep(struct hg_twins *t, hg_id root)
{
    hg_steps(t->e, root);
    memset(t->slope, 0, t->n * sizeof *t->slope);
    for (hg_id id = 0; id < t->n; id++) {
        free(t->slopes[id]);
        t->slopes[id] = NULL;
    }
    t->slope[root] = 1;
    for (hg_id id = root; id > 0; id--)
        if (t->need[id] && touched(t, id))
            back(t, id);
}

double hg_twins_slope(const struct hg_twins *t, hg_id node, size_t k)
{
    return t->slopes[node] ? t->slopes[node][k] : t->slope[node];
}

double hg_twins_condition(const struct hg_twins *t)
{
    double sum = 0;
    for (hg_id id = 1; id < t->n; id++) {
        const struct hg_node *n = hg_at(t->e, id);
        if ((n->nargs && !(t->need[id] & 4)) || n->op == HG_CONST || n->op == HG_NODE || !touched(t, id))
            continue;
        if (t->slopes[id])
            for (size_t k = 0; k < hg_extent(t->e, id, t->ntime); k++)
                sum += fabs(t->slopes[id][k] * exact(t, id, k));
        else
            sum += fabs(t->slope[id] * exact(t, id, 0));
    }
    return sum;
}

/* --- which node loses the digits ----------------------------------------------------------------------- */

/* The error that the operation of a node makes on correctly rounded operands. */
static double local_error(const struct hg_twins *t, hg_id id, size_t k)
{
    const struct hg_node *n = hg_at(t->e, id);
    double plain[SMALL], *f = n->nargs <= SMALL ? plain : hg_zeros(n->nargs, sizeof *f), y;
    switch (n->op) {
    case HG_POTENTIAL:
    case HG_AT_I:
    case HG_REDUCE:
    case HG_HOLD:
    case HG_AT_J: return 0;
    case HG_DELTA:
        if (t->wide[n->arg[0]])
            return 0;
        y = exact(t, n->arg[0], t->at->j) - exact(t, n->arg[0], t->at->i);
        break;
    default:
        for (uint32_t m = 0; m < n->nargs; m++)
            f[m] = operand(t, n, m, k);
        y = apply_double(n, f);
    }
    if (f != plain)
        free(f);
    return (double)fabsl(hg_ext_sub(pick(t, id, k).x, hg_ext(y)).hi);
}

hg_id hg_twins_culprit(struct hg_twins *t, hg_id root, double *ulp)
{
    double *harm = hg_zeros(t->n, sizeof *harm), *own = hg_zeros(t->n, sizeof *own), most = 0;
    hg_id found = 0;
    hg_twins_sweep(t, root);
    for (hg_id id = 1; id <= root; id++) {
        if (!t->need[id] || !touched(t, id) || hg_at(t->e, id)->nargs == 0 || (t->need[id] & 4))
            continue;
        size_t last = t->slopes[id] ? hg_extent(t->e, id, t->ntime) : 1;
        for (size_t k = 0; k < last; k++) {
            double s = t->slopes[id] ? t->slopes[id][k] : t->slope[id];
            double error = s != 0 ? local_error(t, id, k) : 0, value = fabs(exact(t, id, k));
            if (!(fabs(s) * error > harm[id]) || !isfinite(error))
                continue;
            harm[id] = fabs(s) * error;
            own[id] = value > 0 ? error / value * 0x1p52 : HUGE_VAL;
        }
        most = fmax(most, harm[id]);
    }
    *ulp = 0;
    for (hg_id id = 1; id <= root && most > 0; id++)
        if (harm[id] >= most / 8 && own[id] > *ulp) {
            found = id;
            *ulp = own[id];
        }
    free(own);
    free(harm);
    return found;
}

/* The operand that makes a node not finite; choices are followed along the branch that was taken. 0: none. *k: frame
 * of the node, then of the operand. */
static hg_id source_of(const struct hg_twins *t, hg_id id, size_t *k)
{
    const struct hg_node *n = hg_at(t->e, id);
    uint32_t first = 0, last = n->nargs;
    if (n->op == HG_WHERE) {
        first = pick(t, n->arg[0], hg_place(t->e, n, *k, hg_at(t->e, n->arg[0]))).f != 0.0 ? 1 : 2;
        last = first + 1;
    }
    if (n->op == HG_AT_I || n->op == HG_AT_J)
        *k = n->op == HG_AT_I ? t->at->i : t->at->j;
    for (uint32_t a = first; a < last; a++) {
        int table = n->op == HG_POTENTIAL || n->op == HG_DELTA, sum = n->op == HG_REDUCE;
        int at = n->op == HG_AT_I || n->op == HG_AT_J;
        for (uint32_t i = 0; i < (table ? t->ntime : sum ? hg_turns(t->e, n) : 1); i++) {
            size_t place = table ? i : sum ? hg_turn(t->e, n, *k, i)
                               : at ? *k : hg_place(t->e, n, *k, hg_at(t->e, n->arg[a]));
            if (!isfinite(pick(t, n->arg[a], place).f)) {
                *k = place;
                return n->arg[a];
            }
        }
    }
    return 0;
}

/* The line of the last node of a path that its users share: a node may belong to several lines, and the nearest user
 * shows which one is meant. */
static uint32_t line_on_path(const struct hg_expr *e, uint32_t n, const hg_id *path)
{
    const struct hg_node *x = hg_at(e, path[n - 1]);
    uint32_t line = x->line;
    for (uint32_t k = n - 1; k > 0; k--) {
        if (hg_has_line(e, path[k - 1], x->line))
            return x->line;
        for (const struct hg_line *l = x->also; l; l = l->next)
            if (hg_has_line(e, path[k - 1], l->line))
                return l->line;
    }
    return line;
}

hg_id hg_twins_undefined(const struct hg_twins *t, hg_id root, uint32_t *line)
{
    HG_SCRATCH hg_id *path = hg_zeros(root + 1, sizeof *path);
    hg_id id = root;
    uint32_t n = 0;
    size_t k = 0;
    for (; id; id = source_of(t, id, &k)) /* operands have smaller ids */
        path[n++] = id;
    id = path[n - 1];
    if (line)
        *line = line_on_path(t->e, n, path);
    return id;
}
