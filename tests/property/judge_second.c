/* judge_second.c -- second derivatives of a kernel against the interpreter.
 *
 * The reference by parameters a and b is the dual number that the symbolic d mean / d a has with seed b; the
 * bound is the running error of the symbolic second derivative.  Along a direction both are summed.
 */
#include "judge_private.h"

#include <math.h>
#include <stdlib.h>

#include "support/tol.h"

enum { POINTS = 6 };

/* Points of one group, so that tables over time are evaluated once. */
static size_t draw_points(struct setup *s, size_t *point)
{
    int rows = s->k->space == FIT_ROWS;
    size_t each = rows ? s->npoint : s->npoint / s->l.ngroup;
    size_t first = rows ? 0 : each * random_below(s->r, (uint32_t)s->l.ngroup);
    size_t n = each < POINTS ? each : POINTS;
    for (size_t k = 0; k < n; k++)
        point[k] = first + random_below(s->r, (uint32_t)each);
    return n;
}

static void evaluate(struct setup *s, struct hg_eval *ev, size_t p, hg_id seed, int again)
{
    double coord[4], column[4];
    struct hg_point at = judge_point(s, p, coord, column);
    at.seed = seed;
    if (again && s->k->space == FIT_PAIRS)
        hg_eval_pair(ev, &at);
    else
        hg_eval_run(ev, &at);
}

/* ref: n x each. */
static void reference(struct setup *s, size_t n, const size_t *point, struct value *ref)
{
    struct judge *jd = s->jd;
    size_t W = jd->K + jd->Q, each = W * (W + 1) / 2;
    for (size_t p = 0; p < n; p++) {
        evaluate(s, jd->symbolic2, point[p], 0, p > 0);
        for (size_t k = 0; k < each; k++) {
            struct hg_num x = hg_eval_get(jd->symbolic2, jd->second[k], 0);
            ref[p * each + k].e = (x.e + fabsl(x.v)) * TOL_UNIT;
        }
    }
    for (size_t b = 0; b < W; b++)
        for (size_t p = 0; p < n; p++) {
            evaluate(s, jd->symbolic, point[p], jd->leaf[b], p > 0);
            for (size_t a = 0; a <= b; a++)
                ref[p * each + a * W - a * (a + 1) / 2 + b].v = hg_eval_get(jd->symbolic, jd->root[a + 2], 0).d;
        }
}

static int check_hessian(struct setup *s, size_t p, const struct value *ref)
{
    size_t W = s->jd->K + s->jd->Q, each = W * (W + 1) / 2;
    double *hess = calloc(each + 1, sizeof *hess);
    int ok = hess != NULL;
    if (ok)
        s->k->hessian(&s->l, s->ws, s->lin, &(struct fit_points){1, s->pi + p, s->pj + p, s->pg + p}, hess);
    for (size_t k = 0; k < each && ok; k++)
        ok = judge_agrees(s, JUDGE_HESSIAN, hess[k], ref[k].v, ref[k].e, TOL_POINTS) ||
             judge_annotate(s, " entry %zu at i %zu j %zu", k, s->pi[p], s->pj[p]);
    free(hess);
    return ok;
}

static int check_along(struct setup *s, size_t p, const double *v, const struct value *ref)
{
    size_t K = s->jd->K, W = K + s->jd->Q, at = 0;
    const double *lin = v + K + s->pg[p] * s->jd->Q;
    struct value sum = {0, 0};
    double x;
    for (size_t a = 0; a < W; a++)
        for (size_t b = a; b < W; b++, at++) {
            if (!(fabsl(ref[at].v) < TOL_HUGE)) /* infinite in double: times a zero of v it is not a number */
                return 1;
            long double vv = (a == b ? 1.0L : 2.0L) * (a < K ? v[a] : lin[a - K]) * (b < K ? v[b] : lin[b - K]);
            sum.v += vv * ref[at].v;
            sum.e += fabsl(vv) * ref[at].e;
        }
    s->k->second(&s->l, s->ws, s->lin, &(struct fit_points){1, s->pi + p, s->pj + p, s->pg + p}, &x);
    return judge_agrees(s, JUDGE_SECOND, x, sum.v, sum.e, TOL_POINTS) ||
           judge_annotate(s, " at i %zu j %zu g %zu", s->pi[p], s->pj[p], s->pg[p]);
}

int judge_second(struct setup *s)
{
    size_t W = s->jd->K + s->jd->Q, each = W * (W + 1) / 2, point[POINTS], n = draw_points(s, point);
    size_t nv = s->jd->K + s->l.ngroup * s->jd->Q;
    struct value *ref = calloc(n * each + 1, sizeof *ref);
    double *v = calloc(nv + 1, sizeof *v);
    int ok = ref && v;
    if (ok)
        reference(s, n, point, ref);
    for (int turn = 0; turn < 2 && ok; turn++) { /* a second direction over the first */
        for (size_t k = 0; k < nv; k++)
            v[k] = random_chance(s->r, 0.2) ? 0 : random_in(s->r, -1, 1);
        s->k->direction(&s->l, s->theta, v, s->ws);
        for (size_t p = 0; p < n && ok; p++)
            ok = check_along(s, point[p], v, ref + p * each) &&
                 (s->derivative < 2 || check_hessian(s, point[p], ref + p * each));
    }
    free(ref);
    free(v);
    return ok;
}
