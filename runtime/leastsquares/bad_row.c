/* bad_row.c -- describes the row of a table at which the model has no finite value or derivative; for two-time data the
 * settings.
 *
 * Kernels give sums, which one such row turns into NaN; for the message of a failed fit the rows are evaluated here one
 * by one, by kernel->points.
 */
#include "leastsquares/fit_impl.h"
#include "model/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "x = 0, z = 3": the covariates of a row, and the group's coordinates. */
static void place(const struct fit_ls *f, size_t row, size_t group, char *text, size_t size)
{
    const struct fit_kernel *k = f->kernel;
    const struct fit_layout *l = &f->ds->layout;
    size_t at = 0;
    text[0] = '\0';
    for (size_t a = 0; a < k->naxis + k->ncolumn && at < size; a++) {
        int axis = a < k->naxis;
        if (!axis && k->column[a - k->naxis].role != FIT_ROLE_COVARIATE)
            continue;
        int n = snprintf(text + at, size - at, "%s%s = %.6g", at ? ", " : "",
                         axis ? k->axis[a].name : k->column[a - k->naxis].name,
                         axis ? l->coord[a][group] : l->column[a - k->naxis][row]);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* The name of the first derivative that is not finite, or NULL. */
static const char *bad_slope(const struct fit_kernel *k, const double *jac)
{
    for (size_t n = 0; n < k->nparam + k->nlinear; n++)
        if (!isfinite(jac[n]))
            return fit_kernel_unknown(k, n)->name;
    return NULL;
}

struct search {
    const struct fit_ls *f;
    double *ws, *lin, *jac;
    double *law; /* log densities of a tile */
    char *text;
    size_t size;
};

/* 1 when the row is such a row; then the text is written. */
static int look(const struct search *s, size_t row, size_t group)
{
    const struct fit_kernel *k = s->f->kernel;
    const struct fit_dataset *ds = s->f->ds;
    uint32_t i = (uint32_t)row, g = (uint32_t)group;
    double mean;
    char where[200];
    k->points(&ds->layout, s->ws, s->lin, &(struct fit_points){1, &i, &i, &g}, &mean, s->jac);
    const char *slope = bad_slope(k, s->jac);
    if (isfinite(mean) && !slope)
        return 0;
    place(s->f, row, group, where, sizeof where);
    snprintf(s->text, s->size,
             "%s%s at %s (row %zu of the table): leave the row out, or say with where() in the model "
             "what holds there",
             isfinite(mean) ? "no finite derivative by " : "no finite value",
             isfinite(mean) ? slope : "", where, (size_t)(ds->row ? ds->row[row] : row) + 1);
    return 1;
}

static int counts(const struct fit_tile *t, size_t row)
{
    return !t->w || t->w[row - t->i0] > 0;
}

/* 1 when the noise distribution has no density at a row of the tile. */
static int look_at_law(const struct search *s, const struct fit_tile *t)
{
    const struct fit_dataset *ds = s->f->ds;
    char where[200];
    if (!s->f->kernel->density)
        return 0;
    s->f->kernel->density->log_density(&ds->layout, s->ws, t, s->law);
    for (size_t row = t->i0; row < t->i1; row++) {
        if (!counts(t, row) || isfinite(s->law[row - t->i0]))
            continue;
        place(s->f, row, t->group, where, sizeof where);
        snprintf(s->text, s->size,
                 "the noise distribution, %s, has no finite density at %s (row %zu of the table) for the start values: "
                 "is its width 0 there, or the value impossible?",
                 s->f->kernel->density->name, *where ? where : "a row", (size_t)(ds->row ? ds->row[row] : row) + 1);
        return 1;
    }
    return 0;
}

/* Two-time data: no single value is at fault, but a setting may be. */
static int blame_settings(const struct fit_ls *f, char *text, size_t size)
{
    const struct fit_kernel *k = f->kernel;
    size_t at = (size_t)snprintf(text, size, "the model or a derivative is not finite with");
    for (size_t n = 0; n < k->nsetting && at < size; n++)
        at += (size_t)snprintf(text + at, size - at, "%s %s = %g %s", n ? "," : "", k->setting[n].name,
                               f->ds->layout.setting[n], k->setting[n].unit);
    if (at < size)
        snprintf(text + at, size - at, ": is one of them wrong? Else give other start values or bounds");
    return k->nsetting > 0;
}

int fit_ls_blame(const struct fit_ls *f, const double *theta, char *text, size_t size)
{
    const struct fit_kernel *k = f->kernel;
    const struct fit_layout *l = &f->ds->layout;
    struct search s = {.f = f, .text = text, .size = size};
    int found = 0;
    if (k->space != FIT_ROWS)
        return blame_settings(f, text, size);
    FIT_SCRATCH(a);
    s.ws = fit_take(&a, k->workspace(l), sizeof *s.ws);
    s.lin = fit_take(&a, f->ng * f->q, sizeof *s.lin);
    s.jac = fit_take(&a, f->p + f->q, sizeof *s.jac);
    s.law = fit_take(&a, l->nrow + FIT_LANES, sizeof *s.law);
    if (a.failed)
        return 0;
    for (size_t e = 0; e < f->ng * f->q; e++)
        s.lin[e] = k->linear[e % f->q].start;
    (void)k->prepare(l, theta, 1, s.ws); /* whatever it says: rows tell more */
    for (size_t n = 0; n < f->ds->ntile && !found; n++) {
        const struct fit_tile *t = &f->ds->tile[n];
        for (size_t row = t->i0; row < t->i1 && !found; row++)
            if (counts(t, row))
                found = look(&s, row, t->group);
        found = found || look_at_law(&s, t);
    }
    return found;
}
