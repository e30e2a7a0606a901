/* rule_error.c -- the error of the rules of integrals and averages. */
#include "judge/rule_error.h"

#include <math.h>

#include "graph/loop.h"

enum { MOST_PLACES = 150, LEAST_PLACES = 12, MOST_DOUBLINGS = 5 };

#define MOST_NUMBERS 1e7 /* points x numbers of all nodes: some seconds */
#define NOTHING 1e-6     /* fraction of the largest mean of a set: below it a relative error says nothing */

/* No fit in doubles sees less, and long doubles, which differ between machines, are sure of more. */
static const double LEAST_TOLD = 1e-14;

/* The mean with `times` n + 1 nodes for n of each rule; 0: too many. */
static hg_id refined(struct hg_expr *e, hg_id mean, uint32_t times)
{
    const uint32_t count = hg_loop_count(e);
    for (uint32_t k = 1; k <= count; k++) {
        const struct hg_loop l = *hg_loop_at(e, k);
        if (l.open || l.rule == HG_COUNT || !hg_contains(e, mean, hg_loop_index(e, k)))
            continue;
        if (times * l.n + 1 > HG_MOST_NODES)
            return 0;
        mean = hg_loop_replace(e, k, hg_loop_shared(e, l.level, l.rule, times * l.n + 1, l.first), mean);
    }
    return mean;
}

static uint32_t largest_rule(const struct hg_expr *e, hg_id mean)
{
    uint32_t n = 0;
    for (uint32_t k = 1; k <= hg_loop_count(e); k++) {
        const struct hg_loop *l = hg_loop_at(e, k);
        int used =
            !l->open && l->rule != HG_COUNT && hg_contains(e, mean, hg_loop_index((struct hg_expr *)(uintptr_t)e, k));
        n = used && l->n > n ? l->n : n;
    }
    return n;
}

/* Number of values that an evaluation computes. */
static double numbers(const struct hg_expr *e, hg_id root)
{
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)root + 1, 1);
    double n = 1;
    hg_mark(e, root, need);
    for (hg_id id = 1; id <= root; id++)
        n += need[id] ? (double)hg_extent(e, id, HG_PLACES_FRAMES) : 0;
    return n;
}

struct pair {
    struct hg_eval *coarse, *fine;
    hg_id mean, better;
};

static struct pair new_pair(const struct hg_expr *e, hg_id mean, hg_id better)
{
    return (struct pair){hg_eval_new(e, 1, &mean), hg_eval_new(e, 1, &better), mean, better};
}

static void free_pair(struct pair *p)
{
    hg_eval_free(p->coarse);
    hg_eval_free(p->fine);
}

/* |coarse - fine|; *size of the fine one. */
static double difference(const struct pair *p, const struct hg_point *at, double *size)
{
    hg_eval_run(p->coarse, at);
    hg_eval_run(p->fine, at);
    const long double x = hg_eval_get(p->coarse, p->mean, 0).v, y = hg_eval_get(p->fine, p->better, 0).v;
    *size = (double)fabsl(y);
    return (double)fabsl(x - y);
}

/* The worst error of one parameter set, whose points are taken with this step. */
static void look(struct hg_rule_error *r, const struct pair *p, uint32_t s, uint32_t step)
{
    enum { MOST = 64 };
    double error[MOST], size[MOST], largest = 0;
    uint32_t place[MOST], n = 0;
    struct hg_point at;
    for (uint32_t k = s % step; k < hg_places_of(r->box, s) && n < MOST; k += step) {
        if (!hg_places_point(r->box, s, k, &at))
            continue;
        place[n] = k;
        error[n] = difference(p, &at, &size[n]);
        largest = fmax(largest, size[n]);
        n += isfinite(error[n]) && isfinite(size[n]);
    }
    r->places += n;
    for (uint32_t k = 0; k < n; k++) {
        const double scale = fmax(size[k], NOTHING * largest), relative = scale > 0 ? error[k] / scale : 0;
        if (relative > r->worst) {
            r->worst = relative;
            r->sample = s;
            r->place = place[k];
        }
    }
}

/* The multiple of the nodes that is sufficient at the worst point. */
static unsigned enough(struct hg_rule_error *r, struct hg_expr *e, hg_id mean)
{
    struct hg_point at;
    hg_id coarse = mean;
    for (unsigned times = 2, k = 0; k < MOST_DOUBLINGS; k++, times *= 2) {
        hg_id fine = refined(e, mean, 2 * times), now = refined(e, mean, times);
        if (!fine || numbers(e, fine) > MOST_NUMBERS)
            return 0;
        coarse = now;
        struct pair p = new_pair(e, coarse, fine);
        double size, error;
        hg_places_point(r->box, r->sample, r->place, &at);
        error = difference(&p, &at, &size);
        free_pair(&p);
        if (error <= HG_RULE_BOUND * size)
            return times;
    }
    return 0;
}

const struct hg_rule_error *hg_rule_error(struct hg_model *m, hg_id mean, struct hg_places *box)
{
    struct hg_rule_error *r = hg_alloc(m->expr->arena, sizeof *r);
    const hg_id better = refined(m->expr, mean, 2);
    *r = (struct hg_rule_error){.any = better != mean, .box = box, .nodes = largest_rule(m->expr, mean), .factor = 1};
    if (!better || !r->any)
        return r;
    const double work = numbers(m->expr, mean) + numbers(m->expr, better);
    const uint32_t most = (uint32_t)fmax(LEAST_PLACES, fmin(MOST_PLACES, MOST_NUMBERS / work));
    uint32_t all = 0;
    for (uint32_t s = 0; s < box->n; s++)
        if (box->sample[s].origin <= HG_FROM_TEST)
            all += hg_places_of(box, s);
    struct pair p = new_pair(m->expr, mean, better);
    for (uint32_t s = 0; s < box->n && r->places < most; s++)
        if (box->sample[s].origin <= HG_FROM_TEST)
            look(r, &p, s, 1 + all / most);
    free_pair(&p);
    if (r->worst > HG_RULE_BOUND)
        r->factor = enough(r, m->expr, mean);
    return r;
}

/* --- messages --------------------------------------------------------------------------------------------- */

void hg_rule_error_print(const struct hg_rule_error *r, const char *prefix, FILE *out)
{
    if (!r || !r->any)
        return;
    if (r->places == 0) {
        fprintf(out, "%serror of the rules of integrals: not known, no column has a range or a test point\n", prefix);
        return;
    }
    const int told = r->worst >= LEAST_TOLD;
    fprintf(out, "%serror of the rules of integrals: %s%.*e of the mean, at %u places", prefix,
            told ? "" : "less than ", told, told ? r->worst : LEAST_TOLD, r->places);
    if (told)
        fprintf(out, "; most at\n%s  %s", prefix, hg_places_text(r->box, r->sample, r->place));
    fputc('\n', out);
}

void hg_rule_error_warn(const struct hg_rule_error *r, const struct hg_model *m, struct hg_diag *d)
{
    if (!r->any || !(r->worst > HG_RULE_BOUND))
        return;
    struct hg_arena *a = m->expr->arena;
    hg_warning(d, m->observe_line, NULL,
               r->factor ? hg_format(a, "{ nodes = %u } would do there; else narrow the bounds, random() or ranges",
                                     (unsigned)(r->factor * r->nodes + 1))
                         : "another rule, an integrand that is smoother, or narrower bounds, random() and ranges",
               "integrals are off by %.1e of the mean (rules of %u nodes; %g is hoped for)\n    at %s", r->worst,
               (unsigned)r->nodes, HG_RULE_BOUND, hg_places_text(r->box, r->sample, r->place));
}
