/* measurement_sound.c -- data that cannot be fitted: numbers whose squares overflow or underflow double arithmetic, and
 * data without any signal. See measurement.h.
 *
 * A signal is a difference between values. When all fitted values are equal, up to rounding, every model that can be
 * constant explains them, no parameter of its shape has an effect, and the numbers of a fit would be meaningless. Pure
 * noise is not refused: a fit finds out that it contains no signal. Counts have noise distributions of their own: three
 * times no photon is a measurement.
 */
#include "input/measurement.h"

#include <math.h>
#include <stdio.h>

static const double LARGEST = 1e75; /* fourth powers of residuals are summed: range.c */
static const double FLAT = 1e-15;   /* of the largest: differences that are rounding */
enum { FEW = 4 };                   /* number of rows that may well be equal by chance */

/* Above LARGEST or, when it must not vanish, below its inverse. */
static int beyond(double x, int may_vanish)
{
    return fabs(x) > LARGEST || (!may_vanish && fabs(x) < 1 / LARGEST);
}

static enum fit_status refuse_row(const struct fit_measurement *m, const struct fit_kernel *k, size_t column,
                                  size_t place, struct fit_error *err)
{
    const struct fit_dataset *ds = m->dataset;
    const struct fit_column *c = &k->column[column];
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: %s = %g in row %zu of the table: such numbers (beyond 1e75%s) cannot be squared in double "
                    "precision. Leave the row out, or choose another unit",
                    m->file, c->name, ds->layout.column[column][place], (size_t)(ds->row ? ds->row[place] : place) + 1,
                    c->role == FIT_ROLE_COVARIATE || c->role == FIT_ROLE_VALUE ? "" : ", or below 1e-75");
}

/* Every number of the rows that count. */
static enum fit_status rows_sound(const struct fit_measurement *m, const struct fit_kernel *k, struct fit_error *err)
{
    const struct fit_dataset *ds = m->dataset;
    for (size_t n = 0; n < ds->ntile; n++) {
        const struct fit_tile *t = &ds->tile[n];
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t c = 0; c < k->ncolumn && (!t->w || t->w[i - t->i0] > 0); c++)
                if (beyond(ds->layout.column[c][i], k->column[c].role != FIT_ROLE_SIGMA))
                    return refuse_row(m, k, c, i, err);
    }
    return FIT_OK;
}

/* Every matrix: its largest value is enough. */
static enum fit_status matrices_sound(const struct fit_measurement *m, struct fit_error *err)
{
    const struct fit_dataset *ds = m->dataset;
    for (size_t g = 0; g < m->ngroup; g++) {
        const double low = ds->range[g].low + ds->reference[g], high = ds->range[g].high + ds->reference[g];
        const double most = fabs(low) > fabs(high) ? low : high;
        if (beyond(most, 1))
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: matrix %s (phi = %g) holds the value %g: such numbers (beyond 1e75) cannot be squared in "
                "double precision; c2 is near 1",
                m->file, m->group[g].key, m->group[g].phi, most);
        if (!beyond(most, 1) && beyond(most, 0) && most != 0)
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: matrix %s (phi = %g) holds no value above %g: the squares of such numbers (below 1e-75) "
                "are lost in double precision; c2 is near 1",
                m->file, m->group[g].key, m->group[g].phi, fabs(most));
    }
    return FIT_OK;
}

static enum fit_status refuse_table(const struct fit_measurement *m, const struct fit_kernel *k, double value,
                                    struct fit_error *err)
{
    const char *name = "the measured value";
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == FIT_ROLE_VALUE)
            name = k->column[c].name;
    return fit_fail(
        err, FIT_ERR_DATA,
        "%s: %s is %.6g in all %zu rows that count: these data hold no signal, so there is nothing to fit. Is it "
        "the right column?",
        m->file, name, value, m->dataset->npoint);
}

enum fit_status fit_measurement_sound(struct fit_measurement *m, const struct fit_kernel *k, struct fit_error *err)
{
    const struct fit_dataset *ds = m->dataset;
    const int rows = k->space == FIT_ROWS;
    const enum fit_status st = rows ? rows_sound(m, k, err) : matrices_sound(m, err);
    size_t flat = 0;
    if (st != FIT_OK)
        return st;
    double low = INFINITY, high = -INFINITY;
    for (size_t g = 0; g < ds->layout.ngroup; g++) {
        flat += fit_dataset_constant(ds, g) != 0;
        low = fmin(low, ds->range[g].low + ds->reference[g]);
        high = fmax(high, ds->range[g].high + ds->reference[g]);
    }
    if (rows && ds->npoint >= FEW && !k->density && flat == ds->layout.ngroup && high - low <= FLAT * fabs(high))
        return refuse_table(m, k, high, err);
    if (!rows && flat == ds->layout.ngroup)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: matrix %s (phi = %g) holds one value everywhere, %.6g%s: these data hold no signal, so there is "
            "nothing to fit",
            m->file, m->group[0].key, m->group[0].phi, ds->range[0].high + ds->reference[0],
            m->ngroup > 1 ? ", as does every other one" : "");
    for (size_t g = 0; !rows && flat && g < m->ngroup; g++)
        if (fit_dataset_constant(ds, g))
            fit_notes_doubt(&m->notes, "matrix %s (phi = %g) holds one value everywhere, %.6g", m->group[g].key,
                            m->group[g].phi, ds->range[g].high + ds->reference[g]);
    return FIT_OK;
}
