/* model_grid_axes.c -- the points of `eval` and `simulate`: the groups and, for tables, the rows.
 *
 * Every axis and every covariate has a list of values: axes from --q, --phi, --groups or --set NAME=LIST, covariates
 * from --x (the first one) or --set NAME=LIST. A list is numbers and ranges separated by commas: "0,1",
 * "1e-3:10:101:log", "0.02 nm^-1". Groups are all combinations of the axes' values (q slowest, else the first axis),
 * rows of a group all combinations of the covariates' (the first covariate fastest). Or a table has every covariate and
 * every axis as a column, --data FILE: its rows are used as they are, and rows with the same values of the axes are one
 * group. A missing value is an error that names it: nothing is computed at 0.
 */
#include "commands/model_grid_impl.h"

#include "base/units.h"
#include "config/config.h"
#include "input/table_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 100000000 }; /* rows */

struct list {
    size_t n;
    double *value;
};

static int is_covariate(const struct fit_kernel *k, size_t c)
{
    return k->column[c].role == FIT_ROLE_COVARIATE && !(k->nobservable && c == k->which);
}

int fit_experiment_is_grid(const struct fit_kernel *k, const char *name)
{
    for (size_t c = 0; c < k->ncolumn; c++)
        if (is_covariate(k, c) && strcmp(k->column[c].name, name) == 0)
            return 1;
    return fit_config_axis_index(k, name) >= 0;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static double grid_point(double lo, double hi, size_t k, size_t n, int logarithmic)
{
    double part = (double)k / (double)(n - 1);
    if (logarithmic)
        return k == n - 1 ? hi : lo * pow(hi / lo, part);
    return lo + (hi - lo) * part;
}

static enum fit_status add_range(const char *what, const char *text, double lo, double hi, unsigned long n,
                                 const char *rest, struct list *l, struct fit_error *err)
{
    const int logarithmic = strcmp(rest, ":log") == 0;
    if ((*rest && !logarithmic) || n < 2 || n > LONGEST || !isfinite(lo) || !isfinite(hi))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s %s: write a range as FIRST:LAST:NUMBER, e.g. 0:10:101, or 1e-3:10:101:log", what, text);
    if (logarithmic && !(lo > 0 && hi > 0))
        return fit_fail(err, FIT_ERR_USAGE, "%s %s: a logarithmic grid needs limits above 0", what, text);
    double *value = realloc(l->value, (l->n + n) * sizeof *value);
    if (!value)
        return fit_no_memory(err, "grid");
    l->value = value;
    for (size_t k = 0; k < n; k++)
        l->value[l->n++] = grid_point(lo, hi, k, n, logarithmic);
    return FIT_OK;
}

static enum fit_status add_number(const char *what, const char *text, const char *unit, struct list *l,
                                  struct fit_error *err)
{
    double x, *value = realloc(l->value, (l->n + 1) * sizeof *value);
    if (!value)
        return fit_no_memory(err, "grid");
    l->value = value;
    const enum fit_quantity q = fit_quantity_parse(text, unit, &x);
    if ((q != FIT_QUANTITY_BARE && q != FIT_QUANTITY_CONVERTED) || !isfinite(x))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: '%s' is not a number%s%s; a list is 0,1,2 or a range FIRST:LAST:NUMBER", what, text,
                        strcmp(unit, "1") ? " in " : "", strcmp(unit, "1") ? unit : "");
    l->value[l->n++] = x;
    return FIT_OK;
}

/* Numbers, each with an optional unit, and ranges, separated by commas; the caller frees l->value in any case. */
static enum fit_status parse(const char *what, const char *text, const char *unit, struct list *l,
                             struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (const char *s = text; s && st == FIT_OK;) {
        const char *comma = strchr(s, ',');
        char one[128];
        double lo, hi;
        unsigned long n;
        int end = 0;
        snprintf(one, sizeof one, "%.*s", (int)(comma ? (size_t)(comma - s) : strlen(s)), s);
        if (strchr(one, ':')) {
            const int got = sscanf(one, "%lf:%lf:%lu%n", &lo, &hi, &n, &end);
            st = add_range(what, one, lo, got > 1 ? hi : NAN, got == 3 ? n : 0, got == 3 ? one + end : "?", l, err);
        } else {
            st = add_number(what, one, unit, l, err);
        }
        s = comma ? comma + 1 : NULL;
    }
    return st;
}

/* The text after the last --set NAME=, or NULL. */
static const char *set_text(const struct fit_cli *cli, const char *name)
{
    const size_t n = strlen(name);
    const char *text = NULL;
    for (size_t c = 0; c < cli->nchange; c++)
        if (strncmp(cli->change[c].value, name, n) == 0 && cli->change[c].value[n] == '=')
            text = cli->change[c].value + n + 1;
    return text;
}

static enum fit_status copy(const double *from, size_t n, struct list *l, struct fit_error *err)
{
    if (!(l->value = malloc((n + 1) * sizeof *l->value)))
        return fit_no_memory(err, "grid");
    memcpy(l->value, from, n * sizeof *from);
    l->n = n;
    return FIT_OK;
}

static enum fit_status twice(const char *option, const char *name, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_USAGE, "%s and --set %s=..: both give %s; leave one out", option, name, name);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static enum fit_status missing_axis(const struct fit_kernel *k, const struct fit_axis *x, struct fit_error *err)
{
    if (k->space == FIT_PAIRS && strcmp(x->name, "phi") == 0)
        return fit_fail(err, FIT_ERR_USAGE, "--phi: the model %s needs azimuths, e.g. --phi 0,45,90", k->name);
    if (k->space == FIT_PAIRS && strcmp(x->name, "q") == 0)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--q: q is an axis of the model %s: give its wavevectors, e.g. --q 0.003,0.006", k->name);
    if (k->space == FIT_ROWS && k->naxis == 1)
        return fit_fail(err, FIT_ERR_USAGE, "--groups: give the values of %s (%s), one curve each", x->name, x->unit);
    return fit_fail(err, FIT_ERR_USAGE, "the axis %s (%s) of the model %s has no value: give --set %s=V1,V2,.. or"
                    " --set %s=FIRST:LAST:NUMBER", x->name, x->unit, k->name, x->name, x->name);
}

/* Values of axis a. */
static enum fit_status axis_list(const struct fit_kernel *k, const struct fit_cli *cli, size_t a, struct list *l,
                                 struct fit_error *err)
{
    const struct fit_axis *x = &k->axis[a];
    const char *text = set_text(cli, x->name), *option = NULL;
    const double *given = NULL;
    size_t n = 0;
    char what[80];
    if (k->space == FIT_ROWS && cli->ngroups) {
        option = "--groups", given = cli->groups, n = cli->ngroups;
    } else if (k->space == FIT_PAIRS && strcmp(x->name, "phi") == 0 && cli->nphi) {
        option = "--phi", given = cli->phi, n = cli->nphi;
    } else if (k->space == FIT_PAIRS && strcmp(x->name, "q") == 0 && cli->nq) {
        option = "--q", given = cli->q_list, n = cli->nq;
    }
    if (option && text)
        return twice(option, x->name, err);
    if (option) {
        enum fit_status st = copy(given, n, l, err);
        for (size_t i = 0; i < l->n && k->space == FIT_PAIRS; i++)
            l->value[i] = fit_units_to_model(x->name, x->unit, l->value[i]);
        return st;
    }
    if (!text)
        return missing_axis(k, x, err);
    snprintf(what, sizeof what, "--set %.60s", x->name);
    return parse(what, text, x->unit, l, err);
}

/* All combinations: dim[0] slowest; to[d] gets ngroup numbers of dimension d. */
static void combine(const struct list *dim, size_t ndim, size_t ngroup, double *const *to)
{
    size_t repeat = ngroup;
    for (size_t d = 0; d < ndim; d++) {
        repeat /= dim[d].n;
        for (size_t g = 0; g < ngroup; g++)
            to[d][g] = dim[d].value[g / repeat % dim[d].n];
    }
}

/* Dimensions of the groups: q, if it is an axis, the other axes, and azimuths that are only labels. */
enum { DIMENSIONS = 16 };
struct dimensions {
    size_t n, axis[DIMENSIONS]; /* axis naxis: azimuths as labels */
    struct list list[DIMENSIONS];
};

static enum fit_status find_dimensions(const struct fit_kernel *k, const struct fit_cli *cli, struct dimensions *d,
                                       struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const int q = k->space == FIT_PAIRS ? fit_config_axis_index(k, "q") : -1;
    if (k->naxis + 1 > DIMENSIONS)
        return fit_fail(err, FIT_ERR_USAGE, "the model %s has %zu axes; at most %d can be combined", k->name, k->naxis,
                        DIMENSIONS - 1);
    if (q >= 0)
        d->axis[d->n++] = (size_t)q;
    for (size_t a = 0; a < k->naxis; a++)
        if ((int)a != q)
            d->axis[d->n++] = a;
    for (size_t i = 0; i < d->n && st == FIT_OK; i++)
        st = axis_list(k, cli, d->axis[i], &d->list[i], err);
    if (st == FIT_OK && k->space == FIT_PAIRS && fit_config_axis_index(k, "phi") < 0 && cli->nphi) {
        st = copy(cli->phi, cli->nphi, &d->list[d->n], err);
        d->axis[d->n++] = k->naxis;
    }
    return st;
}

static enum fit_status new_groups(struct fit_experiment *e, size_t n, struct fit_error *err)
{
    const size_t naxis = e->kernel->naxis;
    e->layout.ngroup = n;
    e->phi = fit_take(&e->storage_, n, sizeof *e->phi);
    e->q = fit_take(&e->storage_, n, sizeof *e->q);
    e->coord = fit_take(&e->storage_, naxis, sizeof *e->coord);
    for (size_t a = 0; e->coord && a < naxis; a++)
        e->coord[a] = fit_take(&e->storage_, n, sizeof **e->coord);
    e->layout.coord = (const double *const *)e->coord;
    return e->storage_.failed ? fit_no_memory(err, "grid") : FIT_OK;
}

static enum fit_status combine_groups(struct fit_experiment *e, const struct fit_cli *cli, const struct dimensions *d,
                                      struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    const int q = fit_config_axis_index(k, "q"), phi = fit_config_axis_index(k, "phi");
    double *to[DIMENSIONS], n = 1;
    for (size_t i = 0; i < d->n; i++)
        n *= (double)d->list[i].n;
    if (n > 1e6)
        return fit_fail(err, FIT_ERR_USAGE, "%.0f combinations of the axes: at most a million", n);
    enum fit_status st = new_groups(e, (size_t)n, err);
    if (st != FIT_OK)
        return st;
    for (size_t i = 0; i < d->n; i++)
        to[i] = d->axis[i] < k->naxis ? e->coord[d->axis[i]] : e->phi;
    combine(d->list, d->n, e->layout.ngroup, to);
    for (size_t g = 0; g < e->layout.ngroup; g++) {
        e->q[g] = q >= 0 ? fit_units_from_model("q", k->axis[q].unit, e->coord[q][g]) : cli->nq ? cli->q_list[0] : NAN;
        if (phi >= 0)
            e->phi[g] = fit_units_from_model("phi", k->axis[phi].unit, e->coord[phi][g]);
    }
    e->nring = k->space == FIT_PAIRS && q >= 0 ? d->list[0].n : 1;
    return FIT_OK;
}

static enum fit_status check_options(const struct fit_kernel *k, const struct fit_cli *cli, struct fit_error *err)
{
    const int table = k->space == FIT_ROWS;
    if (cli->ngroups && !(table && k->naxis))
        return fit_fail(err, FIT_ERR_USAGE, "--groups: the model %s has no table with an axis", k->name);
    if (cli->ngroups && k->naxis > 1)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--groups: the model %s has the axes %s and %s: --set %s=V1,V2,.. and so on", k->name,
                        k->axis[0].name, k->axis[1].name, k->axis[0].name);
    if (!table && cli->nq > 1 && fit_config_axis_index(k, "q") < 0)
        return fit_fail(err, FIT_ERR_USAGE, "--q: %zu wavevectors; the model %s takes one, its q is not an axis",
                        cli->nq, k->name);
    return FIT_OK;
}

/* ---- rows from a file ------------------------------------------------------------------------ */

/* Values of the i-th of the axes and columns for all rows: the column of the file, or the one number of --set. */
static enum fit_status take_column(struct fit_table *t, const struct fit_cli *cli, const struct fit_kernel *k, size_t i,
                                   double *to, struct fit_error *err)
{
    const char *name = fit_table_wanted(k, i), *unit = fit_table_unit(k, i), *text = set_text(cli, name);
    struct list l = {0};
    char what[80];
    int at = fit_table_find(t, name);
    enum fit_status st = text || at < 0 ? FIT_OK : fit_table_take_unit(cli->data, t, NULL, k, i, &at, NULL, err);
    snprintf(what, sizeof what, "--set %.60s", name);
    if (st == FIT_OK && text && (st = parse(what, text, unit, &l, err)) == FIT_OK && l.n != 1)
        st = fit_fail(err, FIT_ERR_USAGE, "%s: give one number for all rows of %s", what, cli->data);
    else if (!text && at < 0)
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: no column '%s' (%s); add it, or give one number for all rows: --set %s=VALUE", cli->data,
                      name, unit, name);
    for (size_t r = 0; r < t->nrow && st == FIT_OK; r++) {
        to[r] = text ? l.value[0] : t->column[at][r];
        if (isnan(to[r]) && k->empty && i >= k->naxis)
            to[r] = k->empty[i - k->naxis];
        if (!isfinite(to[r]))
            st = fit_fail(err, FIT_ERR_DATA, "%s: %s %zu: %s is %g", cli->data, t->line ? "line" : "row",
                          t->line ? t->line[r] : r + 1, name, to[r]);
    }
    free(l.value);
    return st;
}

static int same_place(double *const *axis, size_t naxis, size_t r, size_t s)
{
    for (size_t a = 0; a < naxis; a++)
        if (axis[a][r] < axis[a][s] || axis[a][r] > axis[a][s])
            return 0;
    return 1;
}

/* Rows with the same values of the axes are one group, in the order of first occurrence. */
static enum fit_status group_rows(struct fit_experiment *e, size_t n, double *const *axis, struct fit_error *err)
{
    const size_t naxis = e->kernel->naxis;
    FIT_SCRATCH(scratch);
    size_t *first = fit_take(&scratch, n, sizeof *first), ngroup = 0;
    if (!first)
        return fit_no_memory(err, "grid");
    for (size_t r = 0; r < n; r++) {
        size_t g = r ? e->group[r - 1] : 0; /* mostly that of the row before */
        if (!r || !same_place(axis, naxis, r, first[g]))
            for (g = 0; g < ngroup && !same_place(axis, naxis, r, first[g]);)
                g++;
        if (g == ngroup)
            first[ngroup++] = r;
        e->group[r] = (uint32_t)g;
    }
    enum fit_status st = new_groups(e, ngroup, err);
    for (size_t a = 0; a < naxis && st == FIT_OK; a++)
        for (size_t g = 0; g < ngroup; g++)
            e->coord[a][g] = axis[a][first[g]];
    return st;
}

/* Memory for n rows of each measured quantity; those of the first are filled in now, the others by end_rows(). */
static enum fit_status new_rows(struct fit_experiment *e, size_t n, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    const size_t all = n * (k->nobservable ? k->nobservable : 1);
    const size_t padded = (all + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    e->layout.nrow = n;
    e->group = fit_take(&e->storage_, all, sizeof *e->group);
    e->column = fit_take(&e->storage_, k->ncolumn, sizeof *e->column);
    for (size_t c = 0; e->column && c < k->ncolumn; c++)
        e->column[c] = fit_take(&e->storage_, padded, sizeof **e->column);
    e->layout.column = (const double *const *)e->column;
    return e->storage_.failed ? fit_no_memory(err, "grid") : FIT_OK;
}

/* The rows of the other measured quantities; lanes after the last row repeat it: a kernel may compute them. */
static void end_rows(struct fit_experiment *e)
{
    const struct fit_kernel *k = e->kernel;
    const size_t each = e->layout.nrow, n = each * (k->nobservable ? k->nobservable : 1);
    const size_t padded = (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    for (size_t r = each; r < n; r++)
        e->group[r] = e->group[r - each];
    for (size_t c = 0; c < k->ncolumn; c++) {
        const int which = k->nobservable && c == k->which;
        for (size_t r = each; r < n; r++)
            e->column[c][r] = which ? (double)(r / each) : e->column[c][r - each];
        for (size_t r = n; r < padded; r++)
            e->column[c][r] = e->column[c][n - 1];
    }
    e->layout.nrow = n;
}

/* Positions of the groups' rows: a kernel with states processes them in order. */
static enum fit_status place_rows(struct fit_experiment *e, struct fit_error *err)
{
    size_t *first = fit_take(&e->storage_, e->layout.ngroup, sizeof *first),
           *count = fit_take(&e->storage_, e->layout.ngroup, sizeof *count);
    if (!first || !count)
        return fit_no_memory(err, "grid");
    for (size_t r = 0; r < e->layout.nrow; r++) {
        const size_t g = e->group[r];
        first[g] = count[g]++ ? first[g] : r;
        if (e->kernel->nstate && first[g] + count[g] != r + 1)
            return fit_fail(err, FIT_ERR_DATA,
                            "row %zu: the model %s goes from row to row of a curve; the rows of one curve must follow "
                            "one another",
                            r + 1, e->kernel->name);
    }
    e->layout.first = first;
    e->layout.count = count;
    return FIT_OK;
}

/* Is column c a measured value in the file from which the model continues? */
static int has_feedback(struct fit_experiment *e, const struct fit_table *t, size_t c)
{
    const struct fit_kernel *k = e->kernel;
    const int has = k->feedback && k->column[c].role == FIT_ROLE_VALUE &&
                    fit_table_find(t, fit_table_wanted(k, k->naxis + c)) >= 0;
    e->measured |= has;
    return has;
}

static enum fit_status take_file(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    struct fit_table *t = NULL;
    FIT_SCRATCH(scratch);
    double **axis = fit_take(&scratch, k->naxis, sizeof *axis);
    enum fit_status st = axis ? fit_table_read(cli->data, NULL, &t, err) : fit_no_memory(err, "grid");
    if (st == FIT_OK)
        st = new_rows(e, t->nrow, err);
    for (size_t c = 0; c < k->ncolumn && st == FIT_OK; c++)
        if (is_covariate(k, c) || has_feedback(e, t, c))
            st = take_column(t, cli, k, k->naxis + c, e->column[c], err);
    for (size_t a = 0; a < k->naxis && st == FIT_OK; a++)
        st = (axis[a] = fit_take(&scratch, t->nrow, sizeof **axis)) ? take_column(t, cli, k, a, axis[a], err)
                                                                    : fit_no_memory(err, "grid");
    if (st == FIT_OK)
        st = group_rows(e, t->nrow, axis, err);
    if (st == FIT_OK)
        end_rows(e);
    if (st == FIT_OK)
        st = place_rows(e, err);
    fit_table_free(t);
    return st;
}

enum fit_status fit_experiment_groups(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err)
{
    struct dimensions d = {0};
    enum fit_status st = check_options(e->kernel, cli, err);
    if (st == FIT_OK && e->kernel->space == FIT_ROWS && cli->data)
        return cli->x || cli->ngroups
                   ? fit_fail(err, FIT_ERR_USAGE, "--data %s: its rows are taken as they are; leave out %s", cli->data,
                              cli->x ? "--x" : "--groups")
                   : take_file(e, cli, err);
    if (st == FIT_OK)
        st = find_dimensions(e->kernel, cli, &d, err);
    if (st == FIT_OK)
        st = combine_groups(e, cli, &d, err);
    for (size_t i = 0; i < DIMENSIONS; i++)
        free(d.list[i].value);
    return st;
}

/* ---- rows from lists ------------------------------------------------------------------------- */

/* Values of covariate c; `first`: it is that of --x. */
static enum fit_status column_list(const struct fit_kernel *k, const struct fit_cli *cli, size_t c, int first,
                                   struct list *l, struct fit_error *err)
{
    const struct fit_column *x = &k->column[c];
    const char *text = is_covariate(k, c) ? set_text(cli, x->name) : NULL;
    char what[80];
    if (first && cli->x && text)
        return twice("--x", x->name, err);
    if (first && !text && !cli->x)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--x: give the grid of '%s' as FIRST:LAST:NUMBER, e.g. 0:10:101, or 1e-3:10:101:log", x->name);
    if (!first && !text)
        return fit_fail(err, FIT_ERR_USAGE,
                        "the column '%s' (%s) of the model %s has no value: give --set %s=V1,V2,.. or"
                        " --set %s=FIRST:LAST:NUMBER, or a table with all columns, --data FILE",
                        x->name, x->unit, k->name, x->name, x->name);
    snprintf(what, sizeof what, "--set %.60s", x->name);
    return parse(text ? what : "--x", text ? text : cli->x, x->unit, l, err);
}

/* All combinations of the covariates in every group. */
static enum fit_status combine_rows(struct fit_experiment *e, const struct list *list, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    double n = 1, all;
    for (size_t c = 0; c < k->ncolumn; c++)
        n *= list[c].n ? (double)list[c].n : 1;
    all = n * (double)e->layout.ngroup;
    if (all > LONGEST)
        return fit_fail(err, FIT_ERR_USAGE, "%.3g rows: all combinations of the columns and groups; at most %d", all,
                        (int)LONGEST);
    enum fit_status st = new_rows(e, (size_t)all, err);
    size_t repeat = 1;
    for (size_t c = 0; c < k->ncolumn && st == FIT_OK; c++) {
        for (size_t r = 0; r < e->layout.nrow && list[c].n; r++)
            e->column[c][r] = list[c].value[r / repeat % list[c].n];
        repeat *= list[c].n ? list[c].n : 1;
    }
    for (size_t r = 0; st == FIT_OK && r < e->layout.nrow; r++)
        e->group[r] = (uint32_t)(r / (size_t)n);
    if (st == FIT_OK)
        end_rows(e);
    return st == FIT_OK ? place_rows(e, err) : st;
}

enum fit_status fit_experiment_columns(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    if (e->column) /* of a file */
        return FIT_OK;
    FIT_OWNED struct list *list = calloc(k->ncolumn + 1, sizeof *list);
    enum fit_status st = list ? FIT_OK : fit_no_memory(err, "grid");
    size_t first = 0;
    while (first < k->ncolumn && !is_covariate(k, first))
        first++;
    if (first == k->ncolumn) /* without a covariate --x gives the number of rows */
        first = 0;
    for (size_t c = 0; c < k->ncolumn && st == FIT_OK; c++)
        if (c == first || is_covariate(k, c))
            st = column_list(k, cli, c, c == first, &list[c], err);
    if (st == FIT_OK)
        st = combine_rows(e, list, err);
    for (size_t c = 0; list && c < k->ncolumn; c++)
        free(list[c].value);
    return st;
}
