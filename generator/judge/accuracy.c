/* accuracy.c -- the worst rounding error of a model, over its box. */
#include "judge/accuracy.h"
#include "graph/loop.h"
#include "model/written.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ULP 0x1p-52
/* Smaller results are zero to every fit, and underflow makes their relative errors meaningless. */
#define NOTHING 1e-280

struct measure {
    struct hg_accuracy *a;
    struct hg_twins *t;
    struct hg_twin *seen; /* places x outputs of one sample */
    double *column;       /* largest values of the outputs in the sample; 0 for the mean */
};

static void list_outputs(struct hg_accuracy *a, struct hg_model *m, hg_id mean)
{
    struct hg_expr *e = m->expr;
    mean = hg_loop_judged(e, mean);
    a->n = 1 + m->param.n + m->linear.n;
    a->output = hg_alloc(e->arena, a->n * sizeof *a->output);
    a->output[0] = (struct hg_worst){.name = m->observable, .root = mean};
    for (uint32_t k = 0; k + 1 < a->n; k++) {
        const struct hg_symbol_decl *p = hg_model_unknown(m, k);
        a->output[k + 1] = (struct hg_worst){.root = hg_diff(e, mean, p->node)};
        a->output[k + 1].name = hg_format(e->arena, "d %s/d %s", m->observable, p->name);
    }
}

/* |f - x| / (1 ulp of scale) */
static double error_of(struct hg_twin y, double scale)
{
    struct hg_ext d = hg_ext_sub(y.x, hg_ext(y.f));
    double error = (double)fabsl(d.hi);
    return error / (ULP * fmax(scale, NOTHING));
}

static double size_of(struct hg_twin y)
{
    return fabs(hg_ext_round(y.x));
}

static void evaluate_place(struct measure *q, uint32_t s, uint32_t place, struct hg_point *p, int first)
{
    hg_places_point(q->a->box, s, place, p);
    if (first || q->a->box->m->expr->march)
        hg_twins_run(q->t, p);
    else
        hg_twins_pair(q->t, p);
}

/* A value that a kernel would return as NaN or infinite. */
static void note_undefined(struct measure *q, struct hg_worst *w, uint32_t s, uint32_t place)
{
    const struct hg_sample *sample = q->a->box->sample;
    if (w->undefined++ == 0 || (sample[s].origin < sample[w->bad_sample].origin)) {
        w->bad_sample = s;
        w->bad_place = place;
    }
}

/* NaN or infinite. A set of random(), combined with the rows of tests, may lie where nobody measures: there the
 * value counts only when it does not come from a number beyond the range of doubles. */
static int fails(const struct measure *q, hg_id root, struct hg_twin y, int declared)
{
    if (isfinite(y.f) || !declared)
        return 0;
    hg_id id = declared == 1 ? hg_twins_undefined(q->t, root, NULL) : 0;
    return !id || hg_at(q->a->box->m->expr, id)->vary & (HG_T | HG_K) || !isinf(hg_twins_get(q->t, id, 0).f) ||
           size_of(hg_twins_get(q->t, id, 0)) < 1e300;
}

/* First pass over the points of a sample: values, sizes of columns. */
static void look(struct measure *q, uint32_t s, uint32_t places)
{
    struct hg_accuracy *a = q->a;
    struct hg_point p;
    memset(q->column, 0, a->n * sizeof *q->column);
    for (uint32_t place = 0; place < places; place++) {
        int declared = hg_places_point(a->box, s, place, &p);
        evaluate_place(q, s, place, &p, place == 0);
        for (uint32_t k = 0; k < a->n; k++) {
            struct hg_twin *y = &q->seen[place * a->n + k];
            *y = hg_twins_get(q->t, a->output[k].root, 0);
            if (k > 0 && isfinite(size_of(*y)))
                q->column[k] = fmax(q->column[k], size_of(*y));
            if (k > 0 && !declared && !isfinite(y->f) && isfinite(q->seen[place * a->n].f))
                a->output[k].guessed_undefined++;
            if (fails(q, a->output[k].root, *y, declared) && (k == 0 || isfinite(q->seen[place * a->n].f)))
                note_undefined(q, &a->output[k], s, place);
        }
    }
}

/* Size of the parameter of output k: its value or its start, whichever is larger. */
static double parameter_size(const struct measure *q, uint32_t s, uint32_t k)
{
    const struct hg_model *m = q->a->box->m;
    const struct hg_sample *x = &q->a->box->sample[s];
    uint32_t n = k - 1, K = m->param.n;
    double value = n < K ? x->param[n] : x->linear[n - K];
    double start = hg_model_unknown(m, n)->start;
    double size = fmax(fabs(value), isfinite(start) ? fabs(start) : 0);
    return size > 0 ? size : 1;
}

/* The condition is computed only where the error could be the worst so far. */
static void compare(struct measure *q, uint32_t s, uint32_t place, uint32_t k)
{
    struct hg_accuracy *a = q->a;
    struct hg_worst *w = &a->output[k];
    struct hg_twin y = q->seen[place * a->n + k];
    struct hg_point p;
    double scale = fmax(size_of(y), q->column[k]), ulp;
    int declared = hg_places_point(a->box, s, place, &p);
    if (!isfinite(y.f) || !isfinite(size_of(y)))
        return;
    if (k > 0) {
        double size = parameter_size(q, s, k), mean = size_of(q->seen[place * a->n]);
        if (!(size_of(y) * size * ULP < fmax(mean, NOTHING))) /* rounding the parameter changes all */
            return;
        scale = fmax(scale, mean / size);
    }
    ulp = error_of(y, scale);
    if (ulp <= (declared ? w->ulp : w->guessed))
        return;
    if (ulp > 0.5) {
        evaluate_place(q, s, place, &p, 0); /* tables are those of the sample */
        hg_twins_sweep(q->t, w->root);
        double condition = hg_twins_condition(q->t);
        if (isfinite(condition))
            ulp = error_of(y, fmax(scale, condition));
    }
    w->guessed = fmax(w->guessed, ulp);
    if (declared && ulp > w->ulp) {
        w->ulp = ulp;
        w->sample = s;
        w->place = place;
    }
}

struct hg_accuracy *hg_accuracy_measure(struct hg_model *m, hg_id mean, struct hg_places *box)
{
    struct hg_arena *arena = m->expr->arena;
    struct hg_accuracy *a = hg_alloc(arena, sizeof *a);
    a->box = box;
    a->bound = m->accuracy > 0 ? m->accuracy : HG_ACCURACY_BOUND;
    list_outputs(a, m, mean);
    hg_id *root = hg_alloc(arena, a->n * sizeof *root);
    for (uint32_t k = 0; k < a->n; k++)
        root[k] = a->output[k].root;
    uint32_t most = box->nrow > HG_PLACES_PAIRS ? box->nrow : HG_PLACES_PAIRS;
    struct measure q = {.a = a, .t = hg_twins_new(m->expr, a->n, root, 1, 0, NULL)};
    q.seen = hg_zeros((size_t)most * a->n, sizeof *q.seen);
    q.column = hg_zeros(a->n, sizeof *q.column);
    for (uint32_t s = 0; s < box->n; s++) {
        uint32_t places = hg_places_of(box, s);
        look(&q, s, places);
        a->places += places;
        for (uint32_t place = 0; place < places; place++)
            for (uint32_t k = 0; k < a->n; k++)
                compare(&q, s, place, k);
    }
    free(q.column);
    free(q.seen);
    hg_twins_free(q.t);
    return a;
}

/* --- messages -------------------------------------------------------------------------------------------- */

void hg_accuracy_print(const struct hg_accuracy *a, const char *prefix, int width, FILE *out)
{
    size_t longest = 6;
    if (!hg_places_declared(a->box)) {
        fprintf(out, "%srounding errors: not judged, no column has a range or a test point\n", prefix);
        return;
    }
    for (uint32_t k = 0; k < a->n; k++)
        longest = strlen(a->output[k].name) > longest ? strlen(a->output[k].name) : longest;
    fprintf(out, "%s%-*s %7s  %s\n", prefix, (int)longest, "output", "ulp", "at");
    for (uint32_t k = 0; k < a->n; k++) {
        const struct hg_worst *w = &a->output[k];
        fprintf(out, w->ulp < 1e4 ? "%s%-*s %7.1f  " : "%s%-*s %7.1e  ", prefix, (int)longest, w->name, w->ulp);
        const char *where = w->ulp > 0.5 ? hg_places_text(a->box, w->sample, w->place) : "";
        int room = width - (int)(strlen(prefix) + longest + 10);
        if (w->ulp <= 0.5)
            fprintf(out, "rounding of the result\n");
        else
            fprintf(out, "%.*s%s\n", room, where, (int)strlen(where) > room ? "..." : "");
    }
}

/* A word of the source line of a node, for the caret. */
static const char *source_word(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    if (n->op == HG_SUM) /* a difference: where its minus is */
        return " - ";
    if (n->op == HG_PROD || n->op == HG_DELTA)
        return NULL;
    return n->op == HG_POW ? "^" : hg_op_text[n->op];
}

static uint32_t line_of(const struct hg_model *m, hg_id id)
{
    uint32_t line = id ? hg_at(m->expr, id)->line : 0;
    return line ? line : m->observe_line;
}

/* Evaluates the point once more to find the culprit. */
static struct hg_twins *again(struct hg_model *m, const struct hg_accuracy *a, const struct hg_worst *w, uint32_t s,
                              uint32_t place, struct hg_point *p)
{
    hg_id root[2] = {a->output[0].root, w->root};
    struct hg_twins *t = hg_twins_new(m->expr, 2, root, 1, 0, NULL);
    hg_places_point(a->box, s, place, p);
    hg_twins_run(t, p);
    return t;
}

static void refuse_inaccurate(struct hg_model *m, const struct hg_accuracy *a, const struct hg_worst *w, double bound,
                              struct hg_diag *d)
{
    struct hg_point p;
    struct hg_twins *t = again(m, a, w, w->sample, w->place, &p);
    struct hg_twin y = hg_twins_get(t, w->root, 0);
    double lost;
    hg_id id = hg_twins_culprit(t, w->root, &lost);
    const char *what = id ? hg_written_text(m, id) : "the sum of all operations";
    hg_error(d, line_of(m, id), id ? source_word(m->expr, id) : NULL,
             hg_format(m->expr->arena, "write it without the cancellation, narrow the box (bounds, random), or allow "
                       "it: accuracy = %.0f in the options of the model", ceil(w->ulp)),
             "%s loses digits: %.3g ulp of error, %g are allowed\n"
             "    at %s\n"
             "    computed %.17g, exact %.17Lg; most is lost in %s (%.3g ulp of its own)",
             w->name, w->ulp, bound, hg_places_text(a->box, w->sample, w->place), y.f, y.x.hi, what, lost);
    hg_twins_free(t);
}

static void refuse_undefined(struct hg_model *m, const struct hg_accuracy *a, const struct hg_worst *w,
                             struct hg_diag *d)
{
    struct hg_point p;
    struct hg_twins *t = again(m, a, w, w->bad_sample, w->bad_place, &p);
    uint32_t line;
    hg_id id = hg_twins_undefined(t, w->root, &line);
    double f = hg_twins_get(t, w->root, 0).f;
    const char *argument = "";
    if (hg_at(m->expr, id)->nargs == 1 && !(hg_at(m->expr, id)->vary & (HG_T | HG_K)))
        argument = hg_format(m->expr->arena, " of %.6g", hg_twins_get(t, hg_at(m->expr, id)->arg[0], 0).f);
    hg_error(d, line ? line : m->observe_line, source_word(m->expr, id),
             "narrow the bounds or random(), choose with where() what is computed there, or let it be judged at run "
             "time: accuracy = math.huge in the options of the model",
             "%s is %s inside the declared box\n    at %s\n    from %s%s", w->name,
             isnan(f) ? "not a number" : "infinite", hg_places_text(a->box, w->bad_sample, w->bad_place),
             hg_written_text(m, id), argument);
    hg_twins_free(t);
}

int hg_accuracy_judge(struct hg_model *m, const struct hg_accuracy *a, struct hg_diag *d)
{
    if (isinf(a->bound)) /* the model asks for it */
        return 1;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->output[k].undefined) {
            refuse_undefined(m, a, &a->output[k], d);
            return 0;
        }
    for (uint32_t k = 0; k < a->n; k++) {
        double bound = k == 0 ? a->bound : a->bound * HG_ACCURACY_SLACK;
        if (!(a->output[k].ulp <= bound)) {
            refuse_inaccurate(m, a, &a->output[k], bound, d);
            return 0;
        }
    }
    return 1;
}
