/* output.c -- an objective as HDF5 and as a table. */
#include "imaging/output.h"

#include <stdio.h>

static int in_use(const struct fit_imaging *p, uint32_t t)
{
    return (int)(p->bound->on >> t & 1);
}

/* PATH of x, PATH_NAME of the other arrays. */
void fit_imaging_put_x(struct fit_h5r *w, const struct fit_imaging *p, const char *path, const double *x)
{
    const size_t shape[] = {p->grid.ny, p->grid.nx};
    char name[128];
    for (int i = 0; i < FIT_IMAGING_FREE; i++) {
        const size_t at = fit_bound_place(p->bound, fit_imaging_free_name[i]);
        snprintf(name, sizeof name, i ? "%s_%s" : "%s", path, fit_imaging_free_name[i]);
        if (at != FIT_BOUND_NOWHERE)
            fit_h5r_reals(w, name, 2, shape, x + at, NULL);
    }
}

/* The inputs of the objective: an image to be named by --prior. */
static void put_prior(struct fit_h5r *w, const struct fit_imaging *p)
{
    static const char *const input[] = {NULL, "alpha_prior", "beta_prior"};
    static const char *const path[] = {"/prior", "/prior_alpha", "/prior_beta"};
    const size_t shape[] = {p->grid.ny, p->grid.nx};
    for (int k = 0; k < 3; k++) {
        const struct fit_input *map = input[k] ? fit_inputs_find(&p->in, input[k], FIT_INPUT_ARRAY) : NULL;
        const double *values = k ? (map && p->order >= k ? map->array : NULL) : p->P;
        if (!values)
            continue;
        fit_h5r_reals(w, path[k], 2, shape, values, k ? NULL : "Jy");
        fit_h5r_attribute_real(w, path[k], "psize", p->grid.pixel);
    }
}

void fit_imaging_put(struct fit_h5r *w, const struct fit_imaging *p, double value, const double *gradient)
{
    const struct fit_functional *o = p->bound->o;
    char path[128];
    fit_h5r_real(w, "/value", value, NULL);
    fit_h5r_group(w, "/terms", NULL);
    fit_h5r_group(w, "/weights", NULL);
    for (uint32_t t = 0; t < o->nterm; t++) {
        if (!in_use(p, t))
            continue;
        snprintf(path, sizeof path, "/terms/%s", o->term[t].name);
        fit_h5r_real(w, path, p->bound->term[t], NULL);
        snprintf(path, sizeof path, "/weights/%s", o->term[t].name);
        fit_h5r_real(w, path, p->bound->weight[t], NULL);
    }
    fit_h5r_group(w, "/hyper", NULL);
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (o->number[k].kind == FIT_NUMBER_HYPER) {
            snprintf(path, sizeof path, "/hyper/%s", o->number[k].name);
            fit_h5r_real(w, path, p->bound->number_given[k], o->number[k].unit);
        }
    put_prior(w, p);
    fit_imaging_put_x(w, p, "/gradient", gradient);
    fit_h5r_attribute(w, "/", "model", o->name);
    fit_h5r_attribute(w, "/", "model_hash", o->hash);
    fit_h5r_attribute(w, "/", "observation", p->obs->file);
}

void fit_imaging_print(FILE *f, const struct fit_imaging *p, double value)
{
    const struct fit_functional *o = p->bound->o;
    fprintf(f, "  %-14s %14s %10s %14s\n", "term", "value", "weight", "part of J");
    for (uint32_t t = 0; t < o->nterm; t++)
        if (in_use(p, t))
            fprintf(f, "  %-14s %14.8g %10g %14.8g\n", o->term[t].name, p->bound->term[t], p->bound->weight[t],
                    p->bound->weight[t] * (p->bound->term[t] + o->term[t].offset));
    fprintf(f, "  %-14s %14s %10s %14.10g\n", "J", "", "", value);
}

void fit_imaging_print_notes(FILE *f, const struct fit_notes *notes)
{
    for (size_t k = 0; k < notes->n; k++)
        fprintf(f, "note: %s\n", notes->text[k]);
}

void fit_imaging_print_written(FILE *f, const char *file, const char *other)
{
    if (file || other)
        fprintf(f, "written: %s%s%s\n", file ? file : other, file && other ? ", " : "", file && other ? other : "");
}
