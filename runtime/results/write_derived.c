/* write_derived.c -- derived quantities in fit.json and fit.h5: value, error, interval of each; those with one value
 * for each group as lists in the order of the groups.
 */
#include "results/write_derived.h"

#include "errors/derived.h"

#include <math.h>
#include <stdio.h>

/* Number of values of the quantity that begins at *d. */
static size_t values_of(const struct fit_result *f, const struct fit_derived_value *d)
{
    size_t n = 1;
    while (d + n < f->derived + f->nderived && d[n].which == d->which)
        n++;
    return n;
}

static void put_ends(struct fit_json *j, const char *name, int known, double lower, double upper)
{
    if (known)
        fit_json_numbers(j, name, (double[]){lower, upper}, 2);
    else
        fit_json_string(j, name, NULL);
}

static void put_intervals(struct fit_json *j, const struct fit_result *f, const struct fit_derived_value *d)
{
    double lower[2], upper[2];
    const enum fit_interval_kind from = fit_derived_interval(f, d, lower, upper);
    put_ends(j, "interval_68", from != FIT_INTERVAL_NONE, lower[0], upper[0]);
    put_ends(j, "interval_95", from != FIT_INTERVAL_NONE, lower[1], upper[1]);
    fit_json_string(j, "interval_from", fit_interval_word(from));
}

static void put_one(struct fit_json *j, const struct fit_results *r, const struct fit_derived_value *d)
{
    fit_json_number(j, "value", d->value);
    fit_json_number(j, "std", d->std);
    fit_json_string(j, "std_reason", d->reason[0] ? d->reason : NULL);
    put_intervals(j, r->fit, d);
    fit_json_number(j, "std_robust", d->std_robust);
}

/* Those of all groups, one number of each. */
static void put_numbers(struct fit_json *j, const char *name, const struct fit_derived_value *d, size_t n,
                        size_t offset)
{
    fit_json_begin(j, name, '[');
    for (size_t g = 0; g < n; g++)
        fit_json_number(j, NULL, *(const double *)(const void *)((const char *)&d[g] + offset));
    fit_json_end(j);
}

static void put_groups(struct fit_json *j, const struct fit_results *r, const struct fit_derived_value *d, size_t n)
{
    put_numbers(j, "value", d, n, offsetof(struct fit_derived_value, value));
    put_numbers(j, "std", d, n, offsetof(struct fit_derived_value, std));
    fit_json_begin(j, "std_reason", '[');
    for (size_t g = 0; g < n; g++)
        fit_json_string(j, NULL, d[g].reason[0] ? d[g].reason : NULL);
    fit_json_end(j);
    for (int i = 0; i < 2; i++) {
        fit_json_begin(j, i ? "interval_95" : "interval_68", '[');
        for (size_t g = 0; g < n; g++) {
            double lower[2], upper[2];
            const enum fit_interval_kind from = fit_derived_interval(r->fit, &d[g], lower, upper);
            put_ends(j, NULL, from != FIT_INTERVAL_NONE, lower[i], upper[i]);
        }
        fit_json_end(j);
    }
    put_numbers(j, "std_robust", d, n, offsetof(struct fit_derived_value, std_robust));
}

void fit_json_derived(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    if (f->nderived == 0)
        return;
    fit_json_begin(j, "derived", '{');
    for (size_t k = 0, n; k < f->nderived; k += n) {
        const struct fit_derived_value *d = &f->derived[k];
        const struct fit_derived *x = &r->kernel->derived[d->which];
        n = values_of(f, d);
        fit_json_begin(j, x->name, '{');
        if (d->group < 0)
            put_one(j, r, d);
        else
            put_groups(j, r, d, n);
        fit_json_string(j, "unit", x->unit);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_array(struct fit_h5r *w, const char *name, const char *suffix, const struct fit_derived *x, size_t n,
                      const double *value)
{
    char path[160];
    snprintf(path, sizeof path, "/entry/derived/%s%s", name, suffix);
    fit_h5r_reals(w, path, 1, &n, value, x->unit);
    if (!*suffix)
        fit_h5r_attribute(w, path, "long_name", x->doc);
}

void fit_hdf5_derived(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    FIT_SCRATCH(a);
    double *value = NULL, *error = NULL, *robust = NULL;
    FIT_TAKE_DOUBLES(&a, f->nderived, &value, &error, &robust);
    if (a.failed) {
        fit_h5r_no_memory(w, "/entry/derived");
        return;
    }
    if (f->nderived)
        fit_h5r_group(w, "/entry/derived", "NXcollection");
    for (size_t k = 0, n; k < f->nderived; k += n) {
        const struct fit_derived *x = &r->kernel->derived[f->derived[k].which];
        n = values_of(f, &f->derived[k]);
        for (size_t g = 0; g < n; g++) {
            value[g] = f->derived[k + g].value;
            error[g] = f->derived[k + g].std;
            robust[g] = f->derived[k + g].std_robust;
        }
        put_array(w, x->name, "", x, n, value);
        put_array(w, x->name, "_err", x, n, error);
        put_array(w, x->name, "_err_robust", x, n, robust);
    }
}
