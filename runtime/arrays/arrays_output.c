/* arrays_output.c -- see arrays_output.h. */
#include "arrays/arrays_output.h"

#include <math.h>

#include "hdf5/h5_writer.h"

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

void fit_arrays_print(FILE *f, const struct fit_bound *b, double value)
{
    fprintf(f, "  %-14s %14s %10s %14s\n", "term", "value", "weight", "part of J");
    for (uint32_t t = 0; t < b->o->nterm; t++)
        if (b->on >> t & 1)
            fprintf(f, "  %-14s %14.8g %10g %14.8g\n", b->o->term[t].name, b->term[t], b->weight[t],
                    b->weight[t] * (b->term[t] + b->o->term[t].offset));
    fprintf(f, "  %-14s %14s %10s %14.10g\n", "J", "", "", value);
}

/* The name of the numbers of an operator. */
static void print_operators(FILE *f, const struct fit_functional *o)
{
    static const char *const kind[] = {"outer: factors _row_re _row_im _column_re _column_im", "difference",
                                       "gather: places", "blocks: matrices, _sizes", "dense: matrix"};
    for (uint32_t k = 0; k < o->noperator; k++)
        if (o->operation[k].kind != FIT_DIFFERENCE)
            fprintf(f, "  %-14s %s, from %s to %s\n", o->operation[k].data, kind[o->operation[k].kind],
                    o->axis[o->operation[k].from].name, o->axis[o->operation[k].to].name);
}

void fit_arrays_print_objective(FILE *f, const struct fit_functional *o)
{
    static const char *const kind[] = {"free", "data"}, *const term[] = {"data", "regularizer", "prior"};
    fprintf(f, "%s\n  %s\n\ndata\n", o->title, or_nothing(o->formula));
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_FREE || o->array[k].kind == FIT_ARRAY_DATA)
            fprintf(f, "  %-14s %-5s over %-10s %-8s %s\n", o->array[k].name, kind[o->array[k].kind],
                    o->axis[o->array[k].axis].name, or_nothing(o->array[k].unit), or_nothing(o->array[k].doc));
    print_operators(f, o);
    fprintf(f, "\nnumbers (--set NAME=VALUE)\n");
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (o->number[k].kind == FIT_NUMBER_HYPER)
            fit_number_print(f, &o->number[k]);
    fprintf(f, "\nterms (--weight NAME=WEIGHT)\n");
    for (uint32_t t = 0; t < o->nterm; t++)
        fprintf(f, "  %-14s %-12s weight %-8g %s\n", o->term[t].name, term[o->term[t].kind], o->term[t].weight,
                or_nothing(o->term[t].doc));
}

/* --- files ---------------------------------------------------------------------------------------------- */

static void put_array(struct fit_h5r *w, const struct fit_bound *b, uint32_t k, const char *path, const double *x,
                      const char *unit)
{
    const struct fit_array_desc *a = &b->o->array[k];
    const size_t shape[] = {b->ny[a->axis], b->nx[a->axis]};
    const int is_grid = b->o->axis[a->axis].row != NULL;
    fit_h5r_reals(w, path, is_grid ? 2 : 1, is_grid ? shape : &b->size[a->axis], x, unit);
}

static void put_arrays(struct fit_h5r *w, const struct fit_bound *b, const double *gradient)
{
    char path[160];
    fit_h5r_group(w, "/kept", NULL);
    fit_h5r_group(w, "/gradient", NULL);
    for (uint32_t k = 0; k < b->o->narray; k++) {
        const struct fit_array_desc *a = &b->o->array[k];
        const int is_free = a->kind == FIT_ARRAY_FREE;
        if (!b->array[k] || !(a->need & b->on) || a->kind == FIT_ARRAY_DATA)
            continue;
        snprintf(path, sizeof path, "%s/%s", is_free ? "" : "/kept", a->name);
        put_array(w, b, k, path, b->array[k], a->unit);
        if (!fit_bound_solves(b, k))
            continue;
        snprintf(path, sizeof path, "/gradient/%s", a->name);
        put_array(w, b, k, path, gradient + fit_bound_place(b, a->name), NULL);
    }
}

static void put_numbers(struct fit_h5r *w, const struct fit_bound *b)
{
    char path[160];
    fit_h5r_group(w, "/terms", NULL);
    fit_h5r_group(w, "/weights", NULL);
    fit_h5r_group(w, "/hyper", NULL);
    for (uint32_t t = 0; t < b->o->nterm; t++) {
        if (!(b->on >> t & 1))
            continue;
        snprintf(path, sizeof path, "/terms/%s", b->o->term[t].name);
        fit_h5r_real(w, path, b->term[t], NULL);
        snprintf(path, sizeof path, "/weights/%s", b->o->term[t].name);
        fit_h5r_real(w, path, b->weight[t], NULL);
    }
    for (uint32_t k = 0; k < b->o->nnumber; k++) {
        if (b->o->number[k].kind != FIT_NUMBER_HYPER)
            continue;
        snprintf(path, sizeof path, "/hyper/%s", b->o->number[k].name);
        fit_h5r_real(w, path, b->number_given[k], b->o->number[k].unit);
    }
}

static void put_end(struct fit_h5r *w, const struct fit_optimize_result *r)
{
    if (!r)
        return;
    fit_h5r_attribute(w, "/", "status", fit_optimize_end_name(r->end));
    fit_h5r_attribute(w, "/", "reason", r->reason);
    fit_h5r_attribute_real(w, "/", "nit", (double)r->nit);
    fit_h5r_attribute_real(w, "/", "nfev", (double)r->nfev);
    fit_h5r_attribute_real(w, "/", "gradient_max", r->gradient_max);
}

enum fit_status fit_arrays_write(const struct fit_arrays *p, const char *file, double value, const double *gradient,
                                 const struct fit_optimize_result *r, struct fit_error *err)
{
    struct fit_h5r_file f;
    const enum fit_status s = fit_h5r_begin(&f, file, err);
    if (s != FIT_OK)
        return s;
    fit_h5r_real(&f.w, "/value", value, NULL);
    put_arrays(&f.w, p->bound, gradient);
    put_numbers(&f.w, p->bound);
    put_end(&f.w, r);
    fit_h5r_attribute(&f.w, "/", "model", p->bound->o->name);
    fit_h5r_attribute(&f.w, "/", "model_hash", p->bound->o->hash);
    fit_h5r_attribute(&f.w, "/", "data", p->options->data);
    return fit_h5r_end(&f, FIT_OK, err);
}
