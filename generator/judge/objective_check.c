/* objective_check.c -- see objective_check.h.
 *
 * Operators are linear, and tests/unit/imaging/test_imaging_operators.c tests their adjoints. Errors of an
 * objective's file, or of the compiler, can only be in the derivatives of its formulas. */
#include "judge/objective_check.h"

#include <float.h>
#include <math.h>

#include "graph/eval.h"

enum { POINTS = 24 };

/* Fraction of the rounding errors in double precision that extended precision may make. */
static const long double EXTENDED = 1e-2L;
static const long double RELATIVE = 1e-14L;

struct prover {
    struct hg_model *m;
    struct hg_diag *d;
    double *column, *setting; /* values and tangents */
    uint64_t random;
    uint32_t formulas, slopes, seconds, nowhere;
    long double worst; /* difference relative to the size */
};

static double uniform(struct prover *p)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->random >> 11) / 9007199254740992.0;
}

/* Sizes from 0.2 to 3, of both signs at every other point; sizes of axes are integers. */
static void draw(struct prover *p, int point)
{
    const struct hg_objective *o = p->m->objective;
    for (uint32_t k = 0; k < 2 * o->narray; k++) {
        const double x = exp(2.7 * uniform(p) - 1.6);
        p->column[k] = point % 2 && uniform(p) < 0.5 ? -x : x;
    }
    for (uint32_t k = 0; k < 2 * o->nnumber; k++) {
        const double x = exp(2.7 * uniform(p) - 1.6);
        p->setting[k] = point % 2 && uniform(p) < 0.5 ? -x : x;
        if (k < o->nnumber && o->number[k].kind == FIT_NUMBER_SIZE)
            p->setting[k] = 1 + floor(10 * uniform(p));
    }
}

/* Is `got` the slope `wanted`, within the expected error? */
static int agree(struct prover *p, struct hg_num got, long double wanted)
{
    const long double size = fmaxl(fabsl(got.v), fabsl(wanted)), off = fabsl(got.v - wanted);
    if (size > 0)
        p->worst = fmaxl(p->worst, off / size);
    return off <= EXTENDED * got.e * ldexpl(1, -53) + RELATIVE * size;
}

static const char *name_of(const struct hg_model *m, hg_id leaf)
{
    const struct hg_node *n = hg_at(m->expr, leaf);
    return n->op == HG_COLUMN ? m->column.item[n->ref].name : m->setting.item[n->ref].name;
}

/* At one point; 0: a slope is wrong; -1: there is no finite value. */
static int at_point(struct prover *p, struct hg_eval *ev, hg_id formula, const struct hg_moving *v, const char *name,
                    uint32_t line)
{
    struct hg_point at = {.column = p->column, .setting = p->setting};
    hg_eval_run(ev, &at);
    if (!isfinite(hg_eval_get(ev, formula, 0).v) || !isfinite(hg_eval_get(ev, v->tangent, 0).v))
        return -1;
    for (uint32_t k = 0; k < v->n; k++) {
        at.seed = v->leaf[k];
        hg_eval_seed(ev, &at);
        const struct hg_num f = hg_eval_get(ev, formula, 0), t = hg_eval_get(ev, v->tangent, 0);
        const int first = agree(p, hg_eval_get(ev, v->part[k], 0), f.d);
        if (first && agree(p, hg_eval_get(ev, v->second[k], 0), t.d))
            continue;
        hg_error(p->d, line, NULL, NULL, "%s: the %s by '%s' is wrong: %.17Lg, by dual numbers %.17Lg", name,
                 first ? "second derivative" : "slope", name_of(p->m, v->leaf[k]),
                 first ? hg_eval_get(ev, v->second[k], 0).v : hg_eval_get(ev, v->part[k], 0).v, first ? t.d : f.d);
        return 0;
    }
    return 1;
}

static void prove(struct prover *p, hg_id formula, const char *name, uint32_t line)
{
    const struct hg_moving v = hg_objective_moving(p->m, formula);
    struct hg_arena *a = p->m->expr->arena;
    hg_id *root = hg_alloc(a, (2 * v.n + 2) * sizeof *root);
    uint32_t n = 0, finite = 0;
    if (v.n == 0)
        return;
    root[n++] = formula;
    root[n++] = v.tangent;
    for (uint32_t k = 0; k < v.n; k++) {
        root[n++] = v.part[k];
        root[n++] = v.second[k];
    }
    struct hg_eval *ev = hg_eval_new(p->m->expr, n, root);
    int good = 1;
    for (int point = 0; good && point < POINTS; point++) {
        draw(p, point);
        const int answer = at_point(p, ev, formula, &v, name, line);
        finite += answer > 0;
        good = answer != 0;
    }
    hg_eval_free(ev);
    p->formulas++;
    p->slopes += v.n;
    for (uint32_t k = 0; k < v.n; k++)
        p->seconds += !hg_is_value(p->m->expr, v.second[k], 0);
    if (good && finite == 0) {
        p->nowhere++;
        hg_warning(p->d, line, NULL, NULL, "%s is not finite at any of %d random points: its slopes are not proved",
                   name, POINTS);
    }
}

int hg_objective_prove(struct hg_model *m, struct hg_diag *d, FILE *out)
{
    const struct hg_objective *o = m->objective;
    struct hg_arena *a = m->expr->arena;
    struct prover p = {.m = m,
                       .d = d,
                       .random = 42,
                       .column = hg_alloc(a, 2 * o->narray * sizeof(double)),
                       .setting = hg_alloc(a, 2 * o->nnumber * sizeof(double))};
    const unsigned before = d->errors;
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_KEPT && o->array[k].need)
            prove(&p, o->array[k].formula, m->column.item[k].name, m->column.item[k].line);
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (o->number[k].kind == FIT_NUMBER_TOTAL && o->number[k].need)
            prove(&p, o->number[k].formula, m->setting.item[k].name, m->setting.item[k].line);
    for (uint32_t k = 0; k < o->nterm; k++)
        prove(&p, o->term[k].value, o->term[k].name, o->term[k].line);
    fprintf(out, "%s: %u formulas at %d points each: %u slopes and %u second derivatives %s dual numbers\n", m->name,
            p.formulas, POINTS, p.slopes, p.seconds, d->errors == before ? "agree with" : "were compared with");
    fprintf(out, "  largest difference %.1Lg of its size, in extended precision\n", p.worst);
    return d->errors == before;
}
