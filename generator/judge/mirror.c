/* mirror.c -- parameters that can be exchanged or reflected without a change of the mean.
 *
 * Maps have the form theta'_k = a_k + b_k theta_s(k), b = +-1. Tried are reflections x -> -x and x -> 1 - x of one or
 * two parameters, alone or together with an exchange of parameters whose names differ in one word (D0_ref and
 * D0_sample); and, for an angle theta among groups at the same coordinate modulo 90 degrees, theta -> 2 phi - theta and
 * -2 phi - theta. A map counts when it moves every random set, and the mean agrees there within the running error of
 * the evaluator.
 */
#include <math.h>
#include <string.h>

#include "judge/degenerate.h"
#include "judge/interact.h"
#include "graph/eval.h"

static const long double ERROR_UNIT = 64 * 0x1p-64L;

enum { MAX_POINTS = 64 * HG_GROUPS, MAX_WORD = 24 };

struct map {
    uint32_t *from;   /* parameter that takes the place of k */
    double *a, *b;
    const char *text; /* of an exchange of names */
};

struct mirrors {
    const struct hg_probe *p;
    struct hg_degeneracies *all;
    uint32_t n, ngroup, set;  /* points so far, of a set */
    long double *reference[HG_SETS], *error[HG_SETS];
    uint32_t count[HG_SETS];
    struct hg_interaction with;
    double *theta, *image;
    struct map map;
};

static int keep(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct mirrors *w = user;
    struct hg_num x = hg_eval_get(ev, w->p->mean, 0);
    (void)group;
    if (w->n == MAX_POINTS)
        return 1;
    w->reference[w->set][w->n] = x.v;
    w->error[w->set][w->n++] = x.e + fabsl(x.v);
    return 0;
}

/* Stops at the first point where the mean differs. */
static int compare(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct mirrors *w = user;
    struct hg_num x = hg_eval_get(ev, w->p->mean, 0);
    uint32_t k = w->n;
    (void)group;
    if (k == w->count[w->set])
        return 1;
    long double e = ERROR_UNIT * (x.e + fabsl(x.v) + w->error[w->set][k]);
    if (!(fabsl(x.v - w->reference[w->set][k]) <= e))
        return 1;
    w->n++;
    return 0;
}

static void mean_at(struct mirrors *w, uint32_t s, const double *theta, hg_probe_visit *visit)
{
    w->n = 0;
    w->set = s;
    hg_probe_run(w->p, w->p->value, theta, w->ngroup, visit, w);
}

static void apply(const struct mirrors *w, const double *theta, double *image)
{
    for (uint32_t k = 0; k < w->p->nparam; k++)
        image[k] = w->map.a[k] + w->map.b[k] * theta[w->map.from[k]];
}

static void identity(struct mirrors *w)
{
    for (uint32_t k = 0; k < w->p->nparam; k++) {
        w->map.from[k] = k;
        w->map.a[k] = 0;
        w->map.b[k] = 1;
    }
    w->map.text = NULL;
}

/* Is every parameter that the map reflects moved? */
static int moves(const struct mirrors *w)
{
    for (uint32_t k = 0; k < w->p->nparam; k++)
        if (w->map.b[k] < 0 && w->image[k] == w->theta[k]) /* the same number: nothing is tested */
            return 0;
    return 1;
}

static int agrees_at(struct mirrors *w, uint32_t s)
{
    apply(w, hg_probe_set(w->p, s, w->theta), w->image);
    if (!moves(w))
        return 0;
    mean_at(w, s, w->image, compare);
    return w->n > 0 && w->n == w->count[s];
}

static int is_mirror(struct mirrors *w)
{
    for (uint32_t s = 0; s < w->p->nset; s++)
        if (!agrees_at(w, s))
            return 0;
    return w->p->nset > 0;
}

static void remember(struct mirrors *w)
{
    for (uint32_t s = 0; s < w->p->nset; s++) {
        mean_at(w, s, hg_probe_set(w->p, s, w->theta), keep);
        w->count[s] = w->n;
    }
}

/* Is the image of a random set inside the bounds? */
static int stays_inside(struct mirrors *w)
{
    int any = 0;
    for (uint32_t s = 0; s < w->p->m->nscreen; s++) {
        int in = 1;
        apply(w, w->p->m->screen + (size_t)s * w->p->nparam, w->image);
        for (uint32_t k = 0; k < w->p->nparam; k++)
            in &= w->image[k] >= w->p->m->param.item[k].lower && w->image[k] <= w->p->m->param.item[k].upper;
        any |= in;
    }
    return any;
}

/* "v0 -> -v0, f3 -> 1 - f3": the reflected parameters. */
static const char *reflections(const struct mirrors *w)
{
    struct hg_arena *arena = w->p->m->expr->arena;
    const char *s = "";
    for (uint32_t k = 0; k < w->p->nparam; k++) {
        const char *name = w->p->m->param.item[k].name, *comma = *s ? ", " : "";
        if (!(w->map.b[k] < 0))
            continue;
        s = w->map.a[k] != 0.0 ? hg_format(arena, "%s%s%s -> %g - %s", s, comma, name, w->map.a[k], name)
                               : hg_format(arena, "%s%s%s -> -%s", s, comma, name, name);
    }
    return s;
}

/* Do these parameters form one combination anyway? */
static int is_known(const struct mirrors *w, const struct hg_degeneracy *d)
{
    for (uint32_t k = 0; k < w->all->n; k++) {
        const struct hg_degeneracy *x = &w->all->item[k];
        uint32_t found = 0;
        for (uint32_t i = 0; i < d->n && x->kind == FIT_DEGENERATE_EVERYWHERE; i++)
            for (uint32_t j = 0; j < x->n; j++)
                found += d->param[i] == x->param[j];
        if (found == d->n)
            return 1;
    }
    return 0;
}

static uint32_t place_of(const struct hg_degeneracy *d, uint32_t k)
{
    uint32_t i = 0;
    while (d->param[i] != k)
        i++;
    return i;
}

static void add(struct mirrors *w, const char *text, int inside)
{
    struct hg_arena *arena = w->p->m->expr->arena;
    struct hg_degeneracies *all = w->all;
    struct hg_degeneracy d = {
        .kind = FIT_DEGENERATE_MIRROR, .condition = -1, .held = -1, .text = text, .inside = inside};
    d.param = hg_alloc(arena, (w->p->nparam + 1) * sizeof *d.param);
    for (uint32_t k = 0; k < w->p->nparam; k++)
        if (w->map.b[k] < 0 || w->map.from[k] != k)
            d.param[d.n++] = k;
    d.image = hg_alloc(arena, (d.n + 1) * sizeof *d.image);
    for (uint32_t i = 0; i < d.n; i++) {
        uint32_t k = d.param[i];
        d.image[i] = (struct fit_image){place_of(&d, w->map.from[k]), w->map.a[k], w->map.b[k]};
        if (w->p->unseen[0][k])
            return;
    }
    if (is_known(w, &d))
        return;
    all->item = hg_grow(arena, all->item, all->n, all->n + 1, sizeof d, &all->room);
    all->item[all->n++] = d;
}

/* --- reflections, alone or with an exchange ----------------------------------------------------------- */

static void tell(struct mirrors *w)
{
    const char *r = reflections(w), *and = *r && w->map.text ? " with " : "";
    add(w, hg_format(w->p->m->expr->arena, "%s%s%s leaves the mean as it is", w->map.text ? w->map.text : "", and, r),
        stays_inside(w));
}

/* Choice c of a parameter: 0 x, 1 -x, 2 1 - x (numbers only). */
static int reflect(struct mirrors *w, uint32_t k, int c)
{
    const char *unit = w->p->m->param.item[k].unit;
    if (w->map.from[k] != k || (c == 2 && unit && strcmp(unit, "1") != 0))
        return 0;
    w->map.a[k] = c == 2;
    w->map.b[k] = c ? -1 : 1;
    return 1;
}

/* Parameters that may interact with one that the exchange moves; without an exchange, all. */
static void find_reached(const struct mirrors *w, unsigned char *reached)
{
    uint32_t n = w->p->nparam;
    memset(reached, w->map.text == NULL, n);
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t k = 0; w->map.from[m] != m && k < n; k++)
            reached[k] |= hg_may_interact(&w->with, m, k) != 0;
}

/* Are two reflections to be tried together? When the parameters that a map moves fall into parts that do not
 * interact, the mean is g + h, and g' - g = h - h' depends on neither part: each part by itself is a mirror (the
 * maps are their own inverses, so the constant is 0), which has been found already. */
static int hang_together(const struct mirrors *w, uint32_t k, uint32_t l, const unsigned char *reached)
{
    int near = hg_may_interact(&w->with, k, l);
    return w->map.text ? (reached[k] && reached[l]) || (near && (reached[k] || reached[l])) : near;
}

static void try_pairs(struct mirrors *w, const unsigned char *reached, const unsigned char *done)
{
    uint32_t n = w->p->nparam;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = k + 1; l < n; l++)
            for (int c = 0; c < 4 && !done[k] && !done[l] && hang_together(w, k, l, reached); c++) {
                if (reflect(w, k, 1 + c / 2) && reflect(w, l, 1 + c % 2) && is_mirror(w))
                    tell(w);
                reflect(w, k, 0);
                reflect(w, l, 0);
            }
}

/* Adds one or two reflections to the exchange in the map; after a mirror is found, no more is tried with the same
 * parameter. */
static void try_reflections(struct mirrors *w)
{
    uint32_t n = w->p->nparam;
    HG_SCRATCH unsigned char *done = hg_zeros(n + 1, 1);
    HG_SCRATCH unsigned char *reached = hg_zeros(n + 1, 1);
    if (w->map.text && is_mirror(w)) {
        tell(w);
        return;
    }
    find_reached(w, reached);
    for (uint32_t k = 0; k < n; k++)
        for (int c = 1; c <= 2 && !done[k] && reached[k]; c++) {
            if (reflect(w, k, c) && is_mirror(w)) {
                tell(w);
                done[k] = 1;
            }
            reflect(w, k, 0);
        }
    try_pairs(w, reached, done);
}

/* --- exchanges ---------------------------------------------------------------------------------------- */

/* `name` with the word `from` (between underscores or ends) replaced; NULL when it has none. */
static const char *renamed(struct hg_arena *arena, const char *name, const char *from, const char *to)
{
    size_t n = strlen(from);
    for (const char *s = name; (s = strstr(s, from)) != NULL; s++)
        if ((s == name || s[-1] == '_') && (s[n] == '\0' || s[n] == '_'))
            return hg_format(arena, "%.*s%s%s", (int)(s - name), name, to, s + n);
    return NULL;
}

static int find_param(const struct mirrors *w, const char *name)
{
    for (uint32_t k = 0; name && k < w->p->nparam; k++)
        if (strcmp(w->p->m->param.item[k].name, name) == 0)
            return (int)k;
    return -1;
}

/* The words in which two names differ. */
static int differing_words(const char *a, const char *b, char *x, char *y)
{
    size_t na = strlen(a), nb = strlen(b), head = 0, tail = 0;
    while (a[head] && a[head] == b[head])
        head++;
    while (head > 0 && a[head - 1] != '_')
        head--;
    while (tail < na - head && tail < nb - head && a[na - 1 - tail] == b[nb - 1 - tail])
        tail++;
    while (tail > 0 && a[na - tail] != '_')
        tail--;
    na -= head + tail;
    nb -= head + tail;
    if (na == 0 || nb == 0 || na >= MAX_WORD || nb >= MAX_WORD)
        return 0;
    snprintf(x, MAX_WORD, "%.*s", (int)na, a + head);
    snprintf(y, MAX_WORD, "%.*s", (int)nb, b + head);
    return !strchr(x, '_') && !strchr(y, '_');
}

/* Fills the map with the exchange of two words; 0 when there is none, or `first` is not its first parameter. */
static int exchange(struct mirrors *w, const char *x, const char *y, uint32_t first)
{
    struct hg_arena *arena = w->p->m->expr->arena;
    const struct hg_symbol_decl *s = w->p->m->param.item;
    uint32_t n = 0;
    identity(w);
    for (uint32_t k = 0; k < w->p->nparam; k++) {
        const char *forth = renamed(arena, s[k].name, x, y);
        int l = find_param(w, forth ? forth : renamed(arena, s[k].name, y, x));
        if (l < 0)
            continue;
        if (n++ == 0 && k != first)
            return 0;
        if (strcmp(s[k].unit, s[l].unit) != 0)
            return 0;
        w->map.from[k] = (uint32_t)l;
    }
    w->map.text = hg_format(arena, "the exchange of %s and %s", x, y);
    return n >= 2;
}

/* The exchange must preserve interactions: otherwise the mean is another function, reflected or not. */
static int keeps_interactions(const struct mirrors *w)
{
    for (uint32_t m = 0; m < w->p->nparam; m++)
        for (uint32_t k = 0; w->map.from[m] != m && k < w->p->nparam; k++)
            if (hg_does_interact(&w->with, m, k) && !hg_may_interact(&w->with, w->map.from[m], w->map.from[k]))
                return 0;
    return 1;
}

static void try_exchanges(struct mirrors *w)
{
    const struct hg_symbol_decl *s = w->p->m->param.item;
    char x[MAX_WORD], y[MAX_WORD];
    for (uint32_t k = 0; k < w->p->nparam; k++)
        for (uint32_t l = k + 1; l < w->p->nparam; l++)
            if (strcmp(s[k].unit, s[l].unit) == 0 && differing_words(s[k].name, s[l].name, x, y) &&
                exchange(w, x, y, k) && keeps_interactions(w))
                try_reflections(w);
    identity(w);
}

/* --- angles ------------------------------------------------------------------------------------------- */

static int is_degree(const struct hg_symbol_decl *s)
{
    return s->unit && strcmp(s->unit, "deg") == 0;
}

/* Groups at phi, phi + 90, phi + 180: is theta -> s 2 phi - theta a mirror? */
static void try_angles(struct mirrors *w)
{
    const struct hg_model *m = w->p->m;
    struct hg_probe other = *w->p;
    const struct hg_probe *own = w->p;
    if (m->space != FIT_PAIRS || m->axis.n == 0 || !is_degree(&m->axis.item[0]))
        return;
    for (uint32_t g = 0; g < HG_GROUPS; g++) {
        other.coord[g] = hg_alloc(m->expr->arena, m->axis.n * sizeof **other.coord);
        memcpy(other.coord[g], own->coord[g], m->axis.n * sizeof **other.coord);
        other.coord[g][0] = 3 + 90.0 * g;
    }
    w->p = &other;
    remember(w);
    for (uint32_t k = 0; k < w->p->nparam; k++)
        for (int sign = 1; sign >= -1 && is_degree(&m->param.item[k]); sign -= 2) {
            identity(w);
            w->map.a[k] = 2 * sign * other.coord[0][0];
            w->map.b[k] = -1;
            if (!is_mirror(w))
                continue;
            const char *name = m->param.item[k].name, *phi = m->axis.item[0].name;
            uint32_t before = w->all->n;
            add(w,
                hg_format(m->expr->arena, "where all %s are equal modulo 90 deg, %s and %s2 %s - %s give the same mean",
                          phi, name, sign < 0 ? "-" : "", phi, name),
                1);
            if (w->all->n == before)
                continue;
            struct hg_degeneracy *d = &w->all->item[before];
            d->kind = FIT_DEGENERATE_MIRROR_ANGLE;
            d->image = NULL; /* another one for other data */
            d->condition = (int)k;
            d->value = 2 * sign;
        }
    w->p = own;
    identity(w);
}

void hg_mirrors(const struct hg_probe *p, struct hg_degeneracies *all)
{
    struct hg_arena *a = p->m->expr->arena;
    struct mirrors w = {.p = p, .all = all, .ngroup = HG_GROUPS};
    w.theta = hg_alloc(a, (p->nparam + 1) * sizeof *w.theta);
    w.image = hg_alloc(a, (p->nparam + 1) * sizeof *w.image);
    w.map.from = hg_alloc(a, (p->nparam + 1) * sizeof *w.map.from);
    w.map.a = hg_alloc(a, (p->nparam + 1) * sizeof *w.map.a);
    w.map.b = hg_alloc(a, (p->nparam + 1) * sizeof *w.map.b);
    for (uint32_t s = 0; s < p->nset; s++) {
        w.reference[s] = hg_alloc(a, MAX_POINTS * sizeof **w.reference);
        w.error[s] = hg_alloc(a, MAX_POINTS * sizeof **w.error);
    }
    w.with = hg_interact(p);
    identity(&w);
    remember(&w);
    try_reflections(&w);
    try_exchanges(&w);
    try_angles(&w);
}
