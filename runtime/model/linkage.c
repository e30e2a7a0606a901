/* linkage.c -- makes the kernel of a linkage; see linkage.h.
 *
 * Numbers the unknowns, combines groups with equal theta into classes, and writes the rows of T and P. The linkage owns
 * everything. Identifiability is in linkage_words.c.
 */
#include "model/linkage_make.h"
#include "base/units.h"
#include "model/registry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180;

void *fit_link_keep(struct fit_making *m, size_t n, size_t size)
{
    return fit_take(&m->link->private_->storage, n + 1, size);
}

static int failed(const struct fit_making *m)
{
    return m->link->private_->storage.failed;
}

char *fit_link_text(struct fit_making *m, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    char *text = fit_link_keep(m, n < 0 ? 0 : (size_t)n, 1);
    va_start(ap, format);
    if (text)
        vsnprintf(text, n < 0 ? 1 : (size_t)n + 1, format, ap);
    va_end(ap);
    return text;
}

int fit_link_tied(const struct fit_making *m, size_t k)
{
    return m->spec->tied && m->spec->tied[k];
}

/* ---- numbers of the unknowns ------------------------------------------------------------------------------- */

static size_t share_of(const struct fit_making *m, size_t k, size_t g)
{
    return m->spec->share ? m->spec->share[k * m->ng + g] : 0;
}

/* unknown[k * ng + g] of the nonlinear parameters; those of tied ones are SIZE_MAX. */
static void number_unknowns(struct fit_making *m)
{
    size_t n = 0;
    for (size_t k = 0; k < m->p; k++)
        for (size_t g = 0; g < m->ng; g++) {
            size_t first = 0;
            while (first < g && share_of(m, k, first) != share_of(m, k, g))
                first++;
            size_t *u = &m->unknown[k * m->ng + g];
            if (fit_link_tied(m, k))
                *u = SIZE_MAX;
            else if (first < g)
                *u = m->unknown[k * m->ng + first];
            else {
                m->link->of[n] = k;
                m->link->group_first[n] = g;
                *u = n++;
            }
        }
    m->n = n;
}

static size_t file_of(const struct fit_making *m, size_t g)
{
    return m->spec->files ? m->spec->files->of[g] : 0;
}

static int same_theta(const struct fit_making *m, size_t a, size_t b)
{
    if (file_of(m, a) != file_of(m, b))
        return 0;
    for (size_t k = 0; k < m->p; k++)
        if (m->unknown[k * m->ng + a] != m->unknown[k * m->ng + b])
            return 0;
    return 1;
}

static void find_classes(struct fit_making *m)
{
    struct fit_linkage *link = m->link;
    for (size_t g = 0; g < m->ng; g++) {
        size_t first = 0;
        while (first < g && !same_theta(m, first, g))
            first++;
        link->class_of[g] = first < g ? link->class_of[first] : link->nclass++;
    }
}

/* ---- matrices ---------------------------------------------------------------------------------------------- */

static int sparse_new(struct fit_making *m, struct fit_sparse *s, size_t nrow, size_t nterm)
{
    s->nrow = nrow;
    s->first = fit_link_keep(m, nrow + 1, sizeof *s->first);
    s->column = fit_link_keep(m, nterm, sizeof *s->column);
    s->value = fit_link_keep(m, nterm, sizeof *s->value);
    s->constant = fit_link_keep(m, nrow, sizeof *s->constant);
    return s->first && s->column && s->value && s->constant;
}

/* Row k of a tied parameter. */
static const double *row_of(const struct fit_making *m, size_t k)
{
    return m->spec->tie + k * (m->p + m->q + 1);
}

static int make_theta(struct fit_making *m, struct fit_sparse *s, size_t g)
{
    size_t at = 0;
    if (!sparse_new(m, s, m->p, m->p * m->p))
        return 0;
    for (size_t k = 0; k < m->p; k++) {
        const double *row = fit_link_tied(m, k) ? row_of(m, k) : NULL;
        s->constant[k] = row ? row[m->p + m->q] : 0;
        for (size_t j = 0; j < m->p; j++) {
            double c = row ? row[j] : j == k;
            if (c == 0)
                continue;
            s->column[at] = m->unknown[j * m->ng + g];
            s->value[at++] = c;
        }
        s->first[k + 1] = at;
    }
    return 1;
}

/* What a file has of its own. */
static void take_file(const struct fit_making *m, struct fit_link_class *class, size_t f)
{
    const struct fit_dataset_files *files = m->spec->files;
    if (!files)
        return;
    if (m->inner->nsetting)
        class->setting = files->setting + f * m->inner->nsetting;
    if (files->ntime)
        class->ntime = files->ntime[f];
    if (files->time) {
        class->time = files->time + f * m->ds->layout.ntime;
        class->step = files->step[f];
    }
}

static int make_class(struct fit_making *m, size_t c)
{
    struct fit_link_class *class = &m->link->private_->class[c];
    size_t naxis = m->inner->naxis, first = SIZE_MAX;
    class->group = fit_link_keep(m, m->ng, sizeof *class->group);
    class->coord = fit_link_keep(m, naxis, sizeof *class->coord);
    for (size_t g = 0; class->group && g < m->ng; g++) {
        if (m->link->class_of[g] != c)
            continue;
        first = first == SIZE_MAX ? g : first;
        m->link->private_->place[g] = class->ngroup;
        class->group[class->ngroup++] = g;
    }
    for (size_t a = 0; class->coord && a < naxis; a++) {
        class->coord[a] = fit_link_keep(m, class->ngroup, sizeof **class->coord);
        for (size_t g = 0; class->coord[a] && g < class->ngroup; g++)
            class->coord[a][g] = m->ds->layout.coord[a][class->group[g]];
    }
    if (m->ds->layout.first) {
        class->first = fit_link_keep(m, class->ngroup, sizeof *class->first);
        class->count = fit_link_keep(m, class->ngroup, sizeof *class->count);
    }
    for (size_t g = 0; class->first && class->count && g < class->ngroup; g++) {
        class->first[g] = m->ds->layout.first[class->group[g]];
        class->count[g] = m->ds->layout.count[class->group[g]];
    }
    take_file(m, class, file_of(m, first));
    if (class->ngroup > m->link->private_->most)
        m->link->private_->most = class->ngroup;
    return !failed(m) && make_theta(m, &class->theta, first);
}

/* ---- linear parameters ------------------------------------------------------------------------------------- */

static int is_series(const struct fit_making *m, size_t q)
{
    return m->spec->harmonics > 0 && m->inner->linear[q].over >= 0;
}

/* Factor of basis function b of a series at an angle: 1, cos phi, sin phi, cos 2 phi, ... */
static double basis(size_t b, double degrees)
{
    double k = (double)((b + 1) / 2) * degrees * DEGREE;
    return b == 0 ? 1 : b % 2 ? cos(k) : sin(k);
}

/* Linear unknowns: which inner parameter and which function of its series. */
static void number_linear(struct fit_making *m)
{
    struct fit_linkage *link = m->link;
    size_t n = 0;
    for (size_t q = 0; q < m->q; q++) {
        size_t functions = fit_link_tied(m, m->p + q) ? 0 : is_series(m, q) ? 2 * m->spec->harmonics + 1 : 1;
        m->linear_first[q] = n;
        for (size_t b = 0; b < functions; b++, n++) {
            link->of_linear[n] = q;
            link->term_linear[n] = b;
        }
    }
    m->c = n;
}

/* Of group g, degrees. */
static double azimuth(const struct fit_making *m, size_t g)
{
    return m->ds->layout.coord[0][g] * 360 / fit_units_turn(m->inner->axis[0].unit);
}

/* Adds factor times (inner linear parameter q of group g), in unknowns, to row. */
static void add_linear(const struct fit_making *m, size_t q, size_t g, double factor, double *row)
{
    size_t functions = is_series(m, q) ? 2 * m->spec->harmonics + 1 : 1;
    for (size_t b = 0; b < functions; b++)
        row[m->linear_first[q] + b] += factor * (functions > 1 ? basis(b, azimuth(m, g)) : 1);
}

/* Row of parameter q in group g: m->c factors, then the constant. */
static void linear_row(const struct fit_making *m, size_t q, size_t g, double *row)
{
    memset(row, 0, (m->c + 1) * sizeof *row);
    if (!fit_link_tied(m, m->p + q)) {
        add_linear(m, q, g, 1, row);
        return;
    }
    const double *tie = row_of(m, m->p + q);
    for (size_t j = 0; j < m->q; j++)
        if (tie[m->p + j] != 0)
            add_linear(m, j, g, tie[m->p + j], row);
    row[m->c] = tie[m->p + m->q];
}

/* The unknown that is a constant added to the mean of every group, or -1. */
static int find_intercept(const struct fit_making *m, double *row)
{
    int inner = m->inner->intercept;
    if (inner < 0 || fit_link_tied(m, m->p + (size_t)inner))
        return -1;
    size_t own = m->linear_first[inner];
    for (size_t q = 0; q < m->q; q++) {
        linear_row(m, q, 0, row);
        if (row[own] != ((int)q == inner))
            return -1;
    }
    return (int)own;
}

static int make_linear(struct fit_making *m)
{
    struct fit_linkage_private *p = m->link->private_;
    double *row = fit_link_keep(m, m->c + 1, sizeof *row);
    p->lin = fit_link_keep(m, m->ng, sizeof *p->lin);
    if (!row || !p->lin)
        return 0;
    int intercept = find_intercept(m, row);
    m->link->kernel.intercept = intercept;
    for (size_t g = 0; g < m->ng; g++) {
        struct fit_sparse *s = &p->lin[g];
        size_t at = 0;
        if (!sparse_new(m, s, m->q, m->q * m->c))
            return 0;
        for (size_t q = 0; q < m->q; q++) {
            linear_row(m, q, g, row);
            s->constant[q] = row[m->c];
            if ((int)q == m->inner->intercept && intercept < 0)
                s->constant[q] -= m->ds->reference[g]; /* the driver subtracts it from intercepts only */
            for (size_t c = 0; c < m->c; c++)
                if (row[c] != 0) {
                    s->column[at] = c;
                    s->value[at++] = row[c];
                }
            s->first[q + 1] = at;
        }
    }
    return 1;
}

/* ---- the parameters of the kernel ---------------------------------------------------------------------------- */

/* 1: each file has one value of parameter k, or its own share of the values. */
static int is_by_file(const struct fit_making *m, size_t k)
{
    for (size_t g = 0; m->spec->files && g < m->ng; g++)
        for (size_t h = 0; h < g; h++)
            if (file_of(m, g) == file_of(m, h) && m->unknown[k * m->ng + g] != m->unknown[k * m->ng + h])
                return 0;
    return m->spec->files != NULL;
}

/* Files in which unknown u occurs: "1", or "1,3". */
static char *files_name(struct fit_making *m, size_t u, const char *between)
{
    char text[512] = "";
    const size_t k = m->link->of[u];
    for (size_t f = 0; f < (m->spec->files ? m->spec->files->n : 0); f++) {
        size_t g = 0, at = strlen(text);
        while (g < m->ng && (file_of(m, g) != f || m->unknown[k * m->ng + g] != u))
            g++;
        if (g < m->ng && at < sizeof text - 40)
            snprintf(text + at, sizeof text - at, "%s%zu", at ? between : "", f + 1);
    }
    return fit_link_text(m, "%s", text);
}

/* Name of the groups of an unknown: "0", "0,45", or "#2" for the second of sets of many. */
static char *groups_name(struct fit_making *m, size_t u, int words)
{
    enum { MANY = 3 };
    size_t k = m->link->of[u], count = 0, set = 1;
    char text[512] = "";
    if (is_by_file(m, k))
        return files_name(m, u, words ? ", " : ",");
    for (size_t v = 0; v < u; v++)
        set += m->link->of[v] == k;
    for (size_t g = 0; g < m->ng; g++)
        count += m->unknown[k * m->ng + g] == u;
    if (count > MANY && !words)
        return fit_link_text(m, "#%zu", set);
    for (size_t g = 0, n = 0; g < m->ng; g++) {
        size_t at = strlen(text);
        if (m->unknown[k * m->ng + g] != u || at > sizeof text - 40)
            continue;
        if (m->inner->naxis && m->spec->files)
            snprintf(text + at, sizeof text - at, "%s%g:%zu", n++ ? (words ? ", " : ",") : "",
                     m->ds->layout.coord[0][g], file_of(m, g) + 1);
        else if (m->inner->naxis)
            snprintf(text + at, sizeof text - at, "%s%g", n++ ? (words ? ", " : ",") : "",
                     m->ds->layout.coord[0][g]);
        else
            snprintf(text + at, sizeof text - at, "%s%zu", n++ ? "," : "", g + 1);
    }
    return fit_link_text(m, "%s", text);
}

static void name_parameters(struct fit_making *m, struct fit_param *out)
{
    for (size_t u = 0; u < m->n; u++) {
        size_t k = m->link->of[u], copies = 0;
        const char *axis = is_by_file(m, k) ? "file" : m->inner->naxis ? m->inner->axis[0].name : "group";
        out[u] = m->inner->param[k];
        for (size_t v = 0; v < m->n; v++)
            copies += m->link->of[v] == k;
        if (copies == 1)
            continue;
        char *set = groups_name(m, u, 0), *words = groups_name(m, u, 1);
        out[u].alias = NULL;
        out[u].name = fit_link_text(m, "%s[%s]", m->inner->param[k].name, set ? set : "");
        out[u].doc = fit_link_text(m, "%s; %s %s", m->inner->param[k].doc, axis, words ? words : "");
    }
}

static int differs_between_files(const struct fit_making *m, size_t k)
{
    for (size_t g = 1; m->spec->files && g < m->ng; g++)
        if (share_of(m, k, g) != share_of(m, k, 0))
            return 1;
    return 0;
}

static void name_linear(struct fit_making *m, struct fit_param *out)
{
    for (size_t c = 0; c < m->c; c++) {
        size_t q = m->link->of_linear[c], b = m->link->term_linear[c];
        out[c] = m->inner->linear[q];
        if (out[c].over < 0 && differs_between_files(m, m->p + q))
            out[c].over = (int)m->inner->naxis;
        if (!is_series(m, q))
            continue;
        out[c].over = -1;
        out[c].alias = NULL;
        if (b == 0) {
            out[c].name = fit_link_text(m, "%s_mean", m->inner->linear[q].name);
            continue;
        }
        out[c].name = fit_link_text(m, "%s_%s%zu", m->inner->linear[q].name, b % 2 ? "cos" : "sin", (b + 1) / 2);
        out[c].start = 0;
        out[c].lower = -INFINITY;
        out[c].upper = INFINITY;
        out[c].prior = FIT_PRIOR_NONE;
    }
}

/* Parameters of priors have one value for all groups, that of the first. */
static void copy_levels(struct fit_making *m)
{
    const struct fit_level *inner = m->inner->level;
    struct fit_level *level = inner ? fit_link_keep(m, m->n, sizeof *level) : NULL;
    for (size_t u = 0; level && u < m->n; u++) {
        level[u] = inner[m->link->of[u]];
        for (int i = 0; i < 2; i++)
            if (level[u].from[i])
                level[u].from[i] = 1 + (unsigned)m->unknown[(level[u].from[i] - 1) * m->ng];
    }
    m->link->kernel.level = level;
}

static void copy_screen(struct fit_making *m)
{
    const struct fit_kernel *inner = m->inner;
    double *screen = inner->screen ? fit_link_keep(m, inner->nscreen * m->n, sizeof *screen) : NULL;
    for (size_t i = 0; screen && i < inner->nscreen; i++)
        for (size_t u = 0; u < m->n; u++)
            screen[i * m->n + u] = inner->screen[i * m->p + m->link->of[u]];
    m->link->kernel.screen = screen;
}

/* ---- tied values --------------------------------------------------------------------------------------------- */

static int same_terms(const struct fit_linkage_tied *a, const struct fit_linkage_tied *b)
{
    if (a->inner != b->inner || a->group >= 0 || a->nterm != b->nterm)
        return 0;
    return memcmp(a->at, b->at, a->nterm * sizeof *a->at) == 0;
}

static void add_tied(struct fit_making *m, size_t k, size_t g)
{
    struct fit_linkage *link = m->link;
    struct fit_linkage_tied *t = &link->tied[link->ntied];
    size_t linear = k >= m->p, most = (linear ? m->c : m->p) + 1, own = k - (linear ? m->p : 0);
    double *row = fit_link_keep(m, m->c + 1, sizeof *row);
    *t = (struct fit_linkage_tied){.param = linear ? &m->inner->linear[own] : &m->inner->param[own],
                                   .text = fit_link_tied(m, k) && m->spec->text ? m->spec->text[k] : "",
                                   .group = linear && m->inner->linear[own].over >= 0 ? (long)g : -1,
                                   .inner = k,
                                   .at = fit_link_keep(m, most, sizeof *t->at),
                                   .factor = fit_link_keep(m, most, sizeof *t->factor)};
    if (linear && is_series(m, own) && !fit_link_tied(m, k)) {
        t->series = 1;
        t->text = fit_link_text(m, "Fourier series of order %zu in %s", m->spec->harmonics, m->inner->axis[0].name);
    }
    if (failed(m))
        return;
    if (linear)
        linear_row(m, own, g, row);
    for (size_t c = 0; linear && c < m->c; c++)
        if (row[c] != 0) {
            t->at[t->nterm] = m->n + c;
            t->factor[t->nterm++] = row[c];
        }
    const struct fit_sparse *s = &link->private_->class[link->class_of[g]].theta;
    for (size_t e = s->first[linear ? 0 : own]; !linear && e < s->first[own + 1]; e++) {
        t->at[t->nterm] = s->column[e];
        t->factor[t->nterm++] = s->value[e];
    }
    t->constant = linear ? row[m->c] : s->constant[own];
    for (size_t n = 0; n < link->ntied; n++)
        if (same_terms(&link->tied[n], t))
            return;
    link->ntied++;
}

static void list_tied(struct fit_making *m)
{
    m->link->tied = fit_link_keep(m, (m->p + m->q) * m->ng, sizeof *m->link->tied);
    for (size_t k = 0; m->link->tied && k < m->p + m->q; k++)
        for (size_t g = 0; (fit_link_tied(m, k) || (k >= m->p && is_series(m, k - m->p))) && !failed(m) && g < m->ng;
             g++)
            add_tied(m, k, g);
    for (size_t n = 0; n < m->link->ntied; n++) { /* instances are distinguished by the first group in which they
                                                   * occur */
        struct fit_linkage_tied *t = &m->link->tied[n];
        size_t copies = 0, rank = 0;
        for (size_t i = 0; i < m->link->ntied; i++) {
            copies += m->link->tied[i].inner == t->inner;
            rank += i < n && m->link->tied[i].inner == t->inner;
        }
        const char *mark = NULL;
        for (size_t e = 0; e < t->nterm && t->at[e] < m->n && !mark; e++)
            mark = strchr(m->link->kernel.param[t->at[e]].name, '[');
        t->name = copies < 2    ? fit_link_text(m, "%s", t->param->name)
                  : mark        ? fit_link_text(m, "%s%s", t->param->name, mark)
                  : t->group >= 0 ? fit_link_text(m, "%s[%ld]", t->param->name, t->group)
                                  : fit_link_text(m, "%s[%zu]", t->param->name, rank);
    }
}

/* ---- making and freeing ------------------------------------------------------------------------------------- */

static int make_room(struct fit_making *m)
{
    struct fit_linkage *link = m->link;
    const size_t p = m->p * m->ng, q = m->q * (2 * m->spec->harmonics + 1);
    m->unknown = fit_link_keep(m, p, sizeof *m->unknown);
    m->linear_first = fit_link_keep(m, m->q, sizeof *m->linear_first);
    link->of = fit_link_keep(m, p, sizeof *link->of);
    link->group_first = fit_link_keep(m, p, sizeof *link->group_first);
    link->of_linear = fit_link_keep(m, q, sizeof *link->of_linear);
    link->term_linear = fit_link_keep(m, q, sizeof *link->term_linear);
    link->class_of = fit_link_keep(m, m->ng, sizeof *link->class_of);
    link->private_->place = fit_link_keep(m, m->ng, sizeof *link->private_->place);
    link->private_->naxis = m->inner->naxis;
    return !failed(m);
}

/* The kernel has the axis "file" after the others. */
static void add_file_axis(struct fit_making *m)
{
    const size_t n = m->inner->naxis;
    struct fit_axis *axis = fit_link_keep(m, n + 1, sizeof *axis);
    for (size_t a = 0; axis && a < n; a++)
        axis[a] = m->inner->axis[a];
    if (axis)
        axis[n] = (struct fit_axis){.name = "file", .unit = "1", .doc = "number of the data file"};
    m->link->kernel.naxis = n + 1;
    m->link->kernel.axis = axis;
}

static int make(struct fit_making *m)
{
    struct fit_linkage *link = m->link;
    if (!make_room(m))
        return 0;
    number_unknowns(m);
    find_classes(m);
    number_linear(m);
    link->private_->class = fit_link_keep(m, link->nclass, sizeof *link->private_->class);
    for (size_t c = 0; !failed(m) && c < link->nclass; c++)
        if (!make_class(m, c))
            return 0;
    link->private_->plain = m->spec->harmonics == 0;
    for (size_t k = m->p; k < m->p + m->q; k++)
        link->private_->plain &= !fit_link_tied(m, k);
    struct fit_param *param = fit_link_keep(m, m->n, sizeof *param), *linear = fit_link_keep(m, m->c, sizeof *linear);
    if (failed(m))
        return 0;
    link->kernel = *m->inner;
    if (m->spec->files)
        add_file_axis(m);
    link->kernel.nparam = m->n;
    link->kernel.param = param;
    link->kernel.nlinear = m->c;
    link->kernel.linear = linear;
    name_parameters(m, param);
    name_linear(m, linear);
    copy_screen(m);
    copy_levels(m);
    fit_linkage_functions(link);
    if (!make_linear(m))
        return 0;
    list_tied(m);
    fit_linkage_words(m);
    return !failed(m);
}

enum fit_status fit_linkage_new(const struct fit_kernel *kernel, struct fit_dataset *ds,
                                const struct fit_linkage_spec *spec, struct fit_linkage **out,
                                struct fit_error *err)
{
    struct fit_making m = {.spec = spec,
                           .inner = kernel,
                           .ds = ds,
                           .p = kernel->nparam,
                           .q = kernel->nlinear,
                           .ng = ds->layout.ngroup};
    *out = NULL;
    if (spec->harmonics && (kernel->naxis == 0 || ds->layout.ngroup < 2 * spec->harmonics + 1))
        return fit_fail(err, FIT_ERR_CONFIG, "a Fourier series of %zu harmonics needs %zu azimuths; there are %zu",
                        spec->harmonics, 2 * spec->harmonics + 1, ds->layout.ngroup);
    m.link = calloc(1, sizeof *m.link);
    if (m.link)
        m.link->private_ = calloc(1, sizeof *m.link->private_);
    if (!m.link || !m.link->private_) {
        free(m.link);
        return fit_no_memory(err, "linked parameters");
    }
    m.link->inner = kernel;
    if (!make(&m)) {
        fit_linkage_free(m.link);
        return fit_no_memory(err, "linked parameters");
    }
    ds->layout.context = m.link;
    *out = m.link;
    return FIT_OK;
}

void fit_linkage_free(struct fit_linkage *link)
{
    if (!link)
        return;
    fit_arena_free(&link->private_->storage);
    free(link->private_);
    free(link);
}

/* ---- bounds -------------------------------------------------------------------------------------------------- */

/* Range of a tied value when its unknowns vary inside their bounds. */
static void range(const struct fit_linkage_tied *t, const double *lower, const double *upper, double *low, double *high)
{
    *low = *high = t->constant;
    for (size_t e = 0; e < t->nterm; e++) {
        double f = t->factor[e], a = f * lower[t->at[e]], b = f * upper[t->at[e]];
        *low += f > 0 ? a : b;
        *high += f > 0 ? b : a;
    }
}

/* With one unknown, its bounds become those that the tied value allows. */
static enum fit_status narrow(const struct fit_linkage *link, const struct fit_linkage_tied *t, double lo, double hi,
                              double *lower, double *upper, struct fit_error *err)
{
    const size_t u = t->at[0];
    const char *name = fit_kernel_unknown(&link->kernel, u)->name;
    double a = (lo - t->constant) / t->factor[0], b = (hi - t->constant) / t->factor[0];
    double low = fmax(lower[u], fmin(a, b)), high = fmin(upper[u], fmax(a, b));
    if (!(low <= high))
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s = %s: no value of %s in its bounds %g .. %g keeps %s in its own, %g .. %g; widen them "
                        "(--bounds %s=LOWER:UPPER)",
                        t->name, t->text, name, lower[u], upper[u], t->name, lo, hi, t->param->name);
    lower[u] = low;
    upper[u] = high;
    return FIT_OK;
}

enum fit_status fit_linkage_bounds(const struct fit_linkage *link, const double *lower, const double *upper,
                                   double *xlower, double *xupper, struct fit_error *err)
{
    size_t n = link->kernel.nparam, p = link->inner->nparam;
    enum fit_status st = FIT_OK;
    for (size_t u = 0; u < n; u++) {
        xlower[u] = lower[link->of[u]];
        xupper[u] = upper[link->of[u]];
    }
    for (size_t c = 0; c < link->kernel.nlinear; c++) {
        int term = link->term_linear[c] > 0;
        xlower[n + c] = term ? -INFINITY : lower[p + link->of_linear[c]];
        xupper[n + c] = term ? INFINITY : upper[p + link->of_linear[c]];
    }
    for (size_t k = 0; k < link->ntied && st == FIT_OK; k++) { /* first those that narrow the box */
        const struct fit_linkage_tied *t = &link->tied[k];
        if (t->nterm == 1 && !t->series)
            st = narrow(link, t, lower[t->inner], upper[t->inner], xlower, xupper, err);
    }
    for (size_t k = 0; k < link->ntied && st == FIT_OK; k++) {
        const struct fit_linkage_tied *t = &link->tied[k];
        double low, high, lo = lower[t->inner], hi = upper[t->inner];
        if (t->nterm == 1 || t->series)
            continue;
        range(t, xlower, xupper, &low, &high);
        double slack = 1e-12 * fmax(fabs(low), fabs(high));
        if (!(low >= lo - (isfinite(slack) ? slack : 0)) || !(high <= hi + (isfinite(slack) ? slack : 0)))
            st = fit_fail(err, FIT_ERR_CONFIG,
                          "%s = %s can be %g .. %g while its parameters are inside their bounds, but is bounded by "
                          "%g .. %g; widen these (--bounds %s=LOWER:UPPER), or narrow the bounds of the parameters "
                          "on the right",
                          t->name, t->text, low, high, lo, hi, t->param->name);
    }
    return st;
}

/* ---- results ------------------------------------------------------------------------------------------------- */

double fit_linkage_value(const struct fit_linkage *link, size_t k, const double *theta, const double *lin)
{
    const struct fit_linkage_tied *t = &link->tied[k];
    size_t n = link->kernel.nparam, g = t->group < 0 ? 0 : (size_t)t->group;
    double v = t->constant;
    for (size_t e = 0; e < t->nterm; e++)
        v += t->factor[e] * (t->at[e] < n ? theta[t->at[e]] : lin[g * link->kernel.nlinear + t->at[e] - n]);
    return v;
}

double fit_linkage_std(const struct fit_linkage *link, size_t k, const double *covariance, size_t nfull)
{
    const struct fit_linkage_tied *t = &link->tied[k];
    size_t n = link->kernel.nparam, shift = t->group < 0 ? 0 : (size_t)t->group * link->kernel.nlinear;
    double v = 0;
    for (size_t a = 0; a < t->nterm; a++)
        for (size_t b = 0; b < t->nterm; b++) {
            size_t i = t->at[a] + (t->at[a] < n ? 0 : shift), j = t->at[b] + (t->at[b] < n ? 0 : shift);
            v += t->factor[a] * t->factor[b] * covariance[i * nfull + j];
        }
    return isnan(v) ? NAN : sqrt(fmax(v, 0));
}

void fit_linkage_theta(const struct fit_linkage *link, size_t g, const double *x, double *theta)
{
    fit_sparse_apply(&link->private_->class[link->class_of[g]].theta, x, theta);
}

void fit_linkage_linear(const struct fit_linkage *link, size_t g, const double *lin, double *inner)
{
    if (link->private_->plain)
        memcpy(inner, lin + g * link->inner->nlinear, link->inner->nlinear * sizeof *inner);
    else
        fit_sparse_apply(&link->private_->lin[g], lin + g * link->kernel.nlinear, inner);
}
