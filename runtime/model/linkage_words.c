/* linkage_words.c -- curves, combinations, degeneracies and rates of the kernel of a linkage: those of the inner kernel
 * that remain valid, in terms of the unknowns.
 *
 * A degeneracy of the inner kernel holds for the unknowns of a class when each of its parameters is one unknown with no
 * other use. Unknowns shared by several classes are degenerate only when the same holds in all of them: then its
 * condition must be shared, too. With one group in a class, what one group cannot distinguish is not identifiable at
 * all. Mirror images are claimed only for a fit with one class.
 */
#include "model/linkage.h"
#include "model/linkage_make.h"

#include <stdint.h>
#include <string.h>

/* 1: all groups of the file are in class c. */
static int only_class_of_file(const struct fit_making *m, size_t c)
{
    const size_t file = m->spec->files->of[m->link->private_->class[c].group[0]];
    for (size_t g = 0; g < m->ng; g++)
        if (m->spec->files->of[g] == file && m->link->class_of[g] != c)
            return 0;
    return 1;
}

/* Name of the groups of a class; "" when there is only one class. */
static const char *class_words(struct fit_making *m, size_t c)
{
    const struct fit_link_class *class = &m->link->private_->class[c];
    if (m->link->nclass == 1 || (m->spec->files && m->link->private_->ncurve_class == 1))
        return "";
    if (m->spec->files && only_class_of_file(m, c))
        return fit_link_text(m, "[%zu]", m->spec->files->of[class->group[0]] + 1);
    if (m->inner->naxis == 0)
        return fit_link_text(m, "[%zu]", c + 1);
    if (m->spec->files)
        return fit_link_text(m, "[%g%s:%zu]", class->coord[0][0], class->ngroup > 1 ? ",.." : "",
                             m->spec->files->of[class->group[0]] + 1);
    return fit_link_text(m, "[%g%s]", class->coord[0][0], class->ngroup > 1 ? ",.." : "");
}

/* Do classes a and b, of different files, have the same curves? */
static int same_curves(const struct fit_making *m, size_t a, size_t b)
{
    const struct fit_link_class *x = &m->link->private_->class[a], *y = &m->link->private_->class[b];
    const size_t n = x->theta.first[x->theta.nrow];
    if (!m->spec->files || n != y->theta.first[y->theta.nrow])
        return 0;
    for (size_t s = 0; s < m->inner->nsetting; s++)
        if (memcmp(&x->setting[s], &y->setting[s], sizeof *x->setting) != 0)
            return 0;
    return memcmp(x->theta.first, y->theta.first, (x->theta.nrow + 1) * sizeof *x->theta.first) == 0 &&
           memcmp(x->theta.column, y->theta.column, n * sizeof *x->theta.column) == 0;
}

static void find_curve_classes(struct fit_making *m)
{
    struct fit_linkage_private *p = m->link->private_;
    p->curve_class = fit_link_keep(m, m->link->nclass, sizeof *p->curve_class);
    for (size_t c = 0; p->curve_class && c < m->link->nclass; c++) {
        int told = 0;
        for (size_t i = 0; i < p->ncurve_class; i++)
            told |= same_curves(m, p->curve_class[i], c);
        if (!told)
            p->curve_class[p->ncurve_class++] = c;
    }
}

static void copy_curves(struct fit_making *m)
{
    const struct fit_linkage_private *p = m->link->private_;
    find_curve_classes(m);
    size_t n = m->inner->ncurve;
    struct fit_curve *all = fit_link_keep(m, n * p->ncurve_class, sizeof *all);
    for (size_t c = 0; all && c < p->ncurve_class; c++)
        for (size_t k = 0; k < n; k++) {
            const char *words = p->ncurve_class > 1 ? class_words(m, p->curve_class[c]) : "";
            all[c * n + k] = m->inner->curve[k];
            if (words && *words)
                all[c * n + k].name = fit_link_text(m, "%s%s", m->inner->curve[k].name, words);
        }
    m->link->kernel.ncurve = n * p->ncurve_class;
    m->link->kernel.curve = all;
}

/* Does theta[k], made of unknowns, have the same meaning in all classes? */
static int is_the_same(const struct fit_making *m, size_t k)
{
    const struct fit_sparse *first = &m->link->private_->class[0].theta;
    const size_t n = first->first[k + 1] - first->first[k];
    for (size_t c = 1; c < m->link->nclass; c++) {
        const struct fit_sparse *T = &m->link->private_->class[c].theta;
        if (T->first[k + 1] - T->first[k] != n)
            return 0;
        for (size_t e = 0; e < n; e++)
            if (T->column[T->first[k] + e] != first->column[first->first[k] + e])
                return 0;
    }
    return 1;
}

/* Do files differ in a setting? */
static int settings_differ(const struct fit_making *m)
{
    const size_t n = m->inner->nsetting;
    const struct fit_dataset_files *files = m->spec->files;
    for (size_t f = 1; f < (files ? files->n : 0); f++)
        if (n && memcmp(files->setting + f * n, files->setting, n * sizeof *files->setting) != 0)
            return 1;
    return 0;
}

/* One value for each group, where a parameter of it has several, or files have settings of their own. */
static void copy_derived(struct fit_making *m)
{
    struct fit_derived *all = fit_link_keep(m, m->inner->nderived, sizeof *all);
    for (size_t d = 0; all && d < m->inner->nderived; d++) {
        all[d] = m->inner->derived[d];
        for (size_t k = 0; k < m->inner->nparam; k++)
            all[d].each |= all[d].uses[k] && !is_the_same(m, k);
        for (size_t c = 0; c < m->c; c++)
            all[d].each |= m->link->kernel.linear[c].over == (int)m->inner->naxis;
        all[d].each |= settings_differ(m);
        all[d].uses = NULL; /* of the inner parameters */
    }
    m->link->kernel.derived = all;
}

static void copy_combinations(struct fit_making *m)
{
    size_t n = m->inner->ncombination;
    struct fit_combination *all = fit_link_keep(m, n * m->link->nclass, sizeof *all);
    for (size_t c = 0; all && c < m->link->nclass; c++)
        for (size_t k = 0; k < n; k++) {
            const char *words = class_words(m, c);
            all[c * n + k] = m->inner->combination[k];
            if (words && *words)
                all[c * n + k].text = fit_link_text(m, "%s %s", m->inner->combination[k].text, words);
        }
    m->link->kernel.ncombination = n * m->link->nclass;
    m->link->kernel.combination = all;
}

/* ---- identifying unknowns ------------------------------------------------------------------------------------ */

/* The unknown that is inner parameter k in class c and has no other use; SIZE_MAX: there is none. */
static size_t alone(const struct fit_making *m, size_t k, size_t c)
{
    size_t n = m->p + m->q;
    if (fit_link_tied(m, k))
        return SIZE_MAX;
    for (size_t t = 0; t < n; t++)
        if (fit_link_tied(m, t) && m->spec->tie[t * (n + 1) + k] != 0)
            return SIZE_MAX;
    if (k < m->p)
        return m->unknown[k * m->ng + m->link->private_->class[c].group[0]];
    return m->spec->harmonics ? SIZE_MAX : m->n + m->linear_first[k - m->p];
}

/* Is unknown u used in class c? */
static int used(const struct fit_making *m, size_t u, size_t c)
{
    const struct fit_sparse *s = &m->link->private_->class[c].theta;
    if (u >= m->n)
        return 1;
    for (size_t e = 0; e < s->first[s->nrow]; e++)
        if (s->column[e] == u)
            return 1;
    return 0;
}

/* Number of classes that use u; *first: the first of them. */
static size_t classes_of(const struct fit_making *m, size_t u, size_t *first)
{
    size_t n = 0;
    *first = m->link->nclass;
    for (size_t c = 0; c < m->link->nclass; c++)
        if (used(m, u, c)) {
            *first = n++ ? *first : c;
        }
    return n;
}

/* ---- settings of several files -------------------------------------------------------------------------------- */

/* Gradients of the combinations of the inner kernel in the first group of class c. */
static void combination_slopes(const struct fit_making *m, size_t c, const double *theta, double *value, double *slope)
{
    const struct fit_link_class *class = &m->link->private_->class[c];
    struct fit_layout sub = m->ds->layout;
    sub.context = NULL;
    sub.ngroup = class->ngroup;
    sub.coord = (const double *const *)class->coord;
    sub.first = class->first;
    sub.count = class->count;
    sub.setting = class->setting;
    m->inner->combine(&sub, theta, value, slope);
}

static int parallel(size_t n, const double *a, const double *b)
{
    static const double straight = 1e-9;
    double aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < n; k++) {
        aa += a[k] * a[k];
        bb += b[k] * b[k];
        ab += a[k] * b[k];
    }
    return ab * ab >= (1 - straight) * aa * bb;
}

/* Files with other settings may determine what a single file does not: nothing is gained only where the remaining
 * combinations are the same functions of the parameters, tested at two points. */
static int same_in_all_files(struct fit_making *m, const struct fit_degeneracy *d, size_t c)
{
    const size_t p = m->p, n = m->inner->ncombination;
    double *theta = fit_link_keep(m, 2 * p, sizeof *theta);
    double *value = fit_link_keep(m, n, sizeof *value), *slope = fit_link_keep(m, 2 * n * p, sizeof *slope);
    if (!settings_differ(m) || !d->ncombination || !m->inner->combine || !theta || !value || !slope)
        return 1;
    for (size_t k = 0; k < p; k++) {
        theta[k] = m->inner->param[k].start;
        theta[p + k] = m->inner->nscreen ? m->inner->screen[k] : 1.1 * theta[k] + 0.01;
    }
    for (size_t other = 0; other < m->link->nclass; other++)
        for (size_t point = 0; point < 2; point++) {
            combination_slopes(m, c, theta + point * p, value, slope);
            combination_slopes(m, other, theta + point * p, value, slope + n * p);
            for (size_t i = d->first; i < d->first + d->ncombination; i++)
                if (!parallel(p, slope + i * p, slope + (n + i) * p))
                    return 0;
        }
    return 1;
}

/* ---- degeneracies ---------------------------------------------------------------------------------------------- */

/* Unknowns of degeneracy d in class c into to; returns how many, 0 when it does not hold or was reported already. */
static size_t translate(const struct fit_making *m, const struct fit_degeneracy *d, size_t c, unsigned *to,
                        size_t *shared)
{
    size_t n = 0, first, condition = 0;
    *shared = 0;
    for (size_t i = 0; i < d->nparam; i++) {
        size_t u = alone(m, d->param[i], c);
        if (u == SIZE_MAX && d->each)
            continue;
        size_t count = u == SIZE_MAX ? 0 : classes_of(m, u, &first);
        if (u == SIZE_MAX || (u < m->n && first != c) || (u < m->n && *shared && count != *shared))
            return 0;
        *shared = u < m->n ? count : *shared;
        to[n++] = (unsigned)u;
    }
    if (*shared == 0 && c > 0) /* linear ones only */
        return 0;
    if (d->condition >= 0) {
        condition = alone(m, (size_t)d->condition, c);
        if (condition == SIZE_MAX || classes_of(m, condition, &first) < *shared)
            return 0;
    }
    return n;
}

static int still_holds(const struct fit_making *m, struct fit_degeneracy *d, size_t c, size_t shared)
{
    if (d->kind >= FIT_DEGENERATE_MIRROR)
        return m->link->nclass == 1;
    if (d->kind != FIT_DEGENERATE_ONE_GROUP || m->link->nclass == 1)
        return 1;
    if (shared == m->link->nclass)
        return 1;
    if (shared != 1 || m->link->private_->class[c].ngroup != 1)
        return 0;
    d->kind = FIT_DEGENERATE_EVERYWHERE;
    return 1;
}

static void copy_degeneracies(struct fit_making *m)
{
    const struct fit_kernel *inner = m->inner;
    size_t most = inner->ndegeneracy * m->link->nclass, n = 0;
    struct fit_degeneracy *all = fit_link_keep(m, most, sizeof *all);
    for (size_t k = 0; all && k < inner->ndegeneracy; k++)
        for (size_t c = 0; c < m->link->nclass; c++) {
            struct fit_degeneracy d = inner->degeneracy[k];
            unsigned *param = fit_link_keep(m, d.nparam, sizeof *param);
            size_t shared, count = param ? translate(m, &d, c, param, &shared) : 0;
            if (count == 0 || !still_holds(m, &d, c, shared) || (shared > 1 && !same_in_all_files(m, &d, c)))
                continue;
            const char *words = class_words(m, c);
            d.image = count == d.nparam ? d.image : NULL;
            d.param = param;
            d.nparam = count;
            d.condition = d.condition < 0 ? -1 : (int)alone(m, (size_t)d.condition, c);
            d.first += c * inner->ncombination;
            if (words && *words && shared < m->link->nclass)
                d.text = fit_link_text(m, "%s: %s", words, d.text);
            all[n++] = d;
        }
    m->link->kernel.ndegeneracy = n;
    m->link->kernel.degeneracy = all;
}

/* ---- rates: coordinates of the sampler --------------------------------------------------------------------------- */

enum { MOST_RATES = FIT_LINKAGE_RATES };

static int overlap(const struct fit_rate *a, const struct fit_rate *b)
{
    const int x[] = {(int)a->amplitude, (int)a->exponent, (int)a->offset, a->shift};
    const int y[] = {(int)b->amplitude, (int)b->exponent, (int)b->offset, b->shift};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            if (x[i] >= 0 && x[i] == y[j])
                return 1;
    return 0;
}

static void copy_rates(struct fit_making *m)
{
    const struct fit_kernel *inner = m->inner;
    struct fit_rate *all = fit_link_keep(m, inner->nrate * m->link->nclass, sizeof *all);
    size_t n = 0;
    for (size_t r = 0; all && r < inner->nrate; r++)
        for (size_t c = 0; c < m->link->nclass; c++) {
            const struct fit_rate *from = &inner->rate[r];
            size_t a = alone(m, from->amplitude, c), e = alone(m, from->exponent, c), o = alone(m, from->offset, c);
            size_t x = from->shift < 0 ? 0 : alone(m, (size_t)from->shift, c);
            if (a == SIZE_MAX || e == SIZE_MAX || o == SIZE_MAX || x == SIZE_MAX)
                continue;
            struct fit_rate to = {from->kind, (unsigned)a, (unsigned)e, (unsigned)o, from->shift < 0 ? -1 : (int)x,
                                  from->time};
            int free_ = 1;
            for (size_t i = 0; i < n; i++)
                free_ &= !overlap(&all[i], &to);
            if (free_ && n < MOST_RATES)
                all[n++] = to;
        }
    m->link->kernel.nrate = n;
    m->link->kernel.rate = all;
}

void fit_linkage_words(struct fit_making *m)
{
    copy_curves(m);
    copy_combinations(m);
    copy_derived(m);
    copy_degeneracies(m);
    copy_rates(m);
}
