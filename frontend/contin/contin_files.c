/* contin_files.c -- a distribution as JSON and HDF5, and the folder of all files. */
#include "frontend/contin/contin_front.h"

#include "base/output.h"
#include "hdf5/h5_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double total(const struct contin_result *r)
{
    double sum = 0;
    for (size_t k = 0; k < r->n; k++)
        sum += r->x[k];
    return sum;
}

static const char *smoothing_word(enum contin_smoothing s)
{
    static const char *const word[] = {"evidence", "lcurve", "fixed"};
    return word[s];
}

static void json_ends(struct fit_json *t, const char *key, double a, double b)
{
    const double ends[2] = {fmin(a, b), fmax(a, b)};
    if (!isnan(a) && !isnan(b))
        fit_json_numbers(t, key, ends, 2);
    else
        fit_json_string(t, key, NULL);
}

static void json_modes(struct fit_json *t, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    fit_json_begin(t, "modes", '[');
    for (size_t k = 0; k < r->npeak; k++) {
        const struct contin_peak *p = &r->peak[k];
        fit_json_begin(t, NULL, '{');
        fit_json_number(t, "mean", contin_show(&j->words, p->mean[0]));
        json_ends(t, "mean_95", contin_show(&j->words, p->mean[1]), contin_show(&j->words, p->mean[2]));
        fit_json_number(t, "weight", p->weight[0]);
        json_ends(t, "weight_95", p->weight[1], p->weight[2]);
        fit_json_number(t, "log_width", p->width[0]);
        json_ends(t, "log_width_95", p->width[1], p->width[2]);
        fit_json_boolean(t, "at_edge", p->at_edge != 0);
        fit_json_end(t);
    }
    fit_json_end(t);
}

static void json_curves(struct fit_json *t, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    fit_json_begin(t, "curves", '[');
    for (size_t c = 0; c < r->ncurve; c++) {
        fit_json_begin(t, NULL, '{');
        fit_json_string(t, "file", j->data[c].file);
        fit_json_number(t, "q", j->data[c].q);
        fit_json_integer(t, "values", (int64_t)j->data[c].n);
        fit_json_number(t, "contrast", r->contrast[c]);
        fit_json_number(t, "contrast_error", r->contrast_error[c]);
        fit_json_number(t, "baseline", r->baseline[c]);
        fit_json_number(t, "baseline_error", r->baseline_error[c]);
        fit_json_end(t);
    }
    fit_json_end(t);
}

static void json_distribution(struct fit_json *t, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    double *part = calloc(r->n, sizeof *part);
    const double all = total(r);
    for (size_t k = 0; part && k < r->n; k++)
        part[k] = r->x[k] / all;
    t->failed |= !part;
    fit_json_begin(t, "distribution", '{');
    fit_json_string(t, "axis", contin_axis_key(j->words.axis));
    fit_json_string(t, "unit", contin_axis_unit(j->words.axis));
    fit_json_numbers(t, "value", j->shown, r->n);
    if (part)
        fit_json_numbers(t, "part", part, r->n);
    fit_json_number(t, "sum", all);
    if (r->ndraw) {
        fit_json_numbers(t, "lower_95", r->lower, r->n);
        fit_json_numbers(t, "upper_95", r->upper, r->n);
        fit_json_numbers(t, "average", r->average, r->n);
    }
    fit_json_end(t);
    free(part);
}

void contin_json(struct fit_json *t, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    fit_json_begin(t, NULL, '{');
    fit_json_string(t, "command", "contin");
    fit_json_string(t, "version", FIT_VERSION);
    fit_json_string(t, "kind", j->words.power == 1 ? "g1" : "g2");
    json_modes(t, j);
    json_curves(t, j);
    fit_json_begin(t, "smoothing", '{');
    fit_json_string(t, "by", smoothing_word(j->words.smoothing));
    fit_json_number(t, "strength", r->alpha);
    json_ends(t, "strength_95", r->alpha_range[0], r->alpha_range[1]);
    fit_json_number(t, "roughness", r->roughness);
    fit_json_number(t, "determined", r->determined);
    fit_json_end(t);
    fit_json_number(t, "chi2", r->chi2);
    fit_json_integer(t, "values", (int64_t)r->nvalue);
    fit_json_number(t, "noise", j->curve[0].sigma ? NAN : 1 / sqrt(r->lambda));
    fit_json_integer(t, "draws", (int64_t)r->ndraw);
    fit_json_integer(t, "seed", j->words.seed);
    json_distribution(t, j);
    fit_json_begin(t, "notes", '[');
    for (size_t k = 0; k < j->notes.n; k++)
        fit_json_string(t, NULL, j->notes.text[k]);
    fit_json_end(t);
    fit_json_end(t);
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

static void h5_modes(struct fit_h5r *w, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    double v[3][CONTIN_PEAKS][3];
    const size_t dims[2] = {r->npeak, 3};
    for (size_t k = 0; k < r->npeak; k++) {
        const struct contin_peak *p = &r->peak[k];
        const double a = contin_show(&j->words, p->mean[1]), b = contin_show(&j->words, p->mean[2]);
        v[0][k][0] = contin_show(&j->words, p->mean[0]);
        v[0][k][1] = fmin(a, b);
        v[0][k][2] = fmax(a, b);
        memcpy(v[1][k], p->weight, sizeof p->weight);
        memcpy(v[2][k], p->width, sizeof p->width);
    }
    fit_h5r_group(w, "/modes", NULL);
    fit_h5r_reals(w, "/modes/mean", 2, dims, v[0][0], contin_axis_unit(j->words.axis));
    fit_h5r_reals(w, "/modes/weight", 2, dims, v[1][0], "1");
    fit_h5r_reals(w, "/modes/log_width", 2, dims, v[2][0], "1");
    fit_h5r_attribute(w, "/modes", "columns", "value, lower end, upper end of the interval of 95 %");
}

static void h5_curve(struct fit_h5r *w, const struct contin_job *j, size_t c)
{
    const struct contin_data *d = &j->data[c];
    char path[80];
    const struct {
        const char *name, *unit;
        const double *value;
    } row[] = {
        {"delay", "s", d->delay}, {j->words.power == 1 ? "g1" : "g2_minus_1", "1", d->y}, {"sigma", "1", d->sigma}};
    snprintf(path, sizeof path, "/curves/%zu", c + 1);
    fit_h5r_group(w, path, NULL);
    fit_h5r_attribute(w, path, "file", d->file);
    fit_h5r_attribute_real(w, path, "q", d->q);
    fit_h5r_attribute_real(w, path, "contrast", j->result.contrast[c]);
    fit_h5r_attribute_real(w, path, "baseline", j->result.baseline[c]);
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "/curves/%zu/%s", c + 1, row[k].name);
        if (row[k].value)
            fit_h5r_reals(w, path, 1, &d->n, row[k].value, row[k].unit);
    }
}

static enum fit_status write_h5(const struct contin_job *j, const char *path, struct fit_error *err)
{
    const struct contin_result *r = &j->result;
    struct fit_h5r w;
    double *part = calloc(r->n, sizeof *part);
    enum fit_status st = part ? fit_h5r_create(path, &w, err) : fit_no_memory(err, path);
    if (st != FIT_OK) {
        free(part);
        return st;
    }
    for (size_t k = 0; k < r->n; k++)
        part[k] = r->x[k] / total(r);
    fit_h5r_attribute(&w, "/", "command", "contin");
    fit_h5r_attribute(&w, "/", "version", FIT_VERSION);
    fit_h5r_group(&w, "/distribution", NULL);
    fit_h5r_attribute(&w, "/distribution", "axis", contin_axis_key(j->words.axis));
    fit_h5r_reals(&w, "/distribution/value", 1, &r->n, j->shown, contin_axis_unit(j->words.axis));
    fit_h5r_reals(&w, "/distribution/part", 1, &r->n, part, "1");
    if (r->ndraw) {
        fit_h5r_reals(&w, "/distribution/lower_95", 1, &r->n, r->lower, "1");
        fit_h5r_reals(&w, "/distribution/upper_95", 1, &r->n, r->upper, "1");
        fit_h5r_reals(&w, "/distribution/average", 1, &r->n, r->average, "1");
    }
    fit_h5r_real(&w, "/distribution/sum", total(r), "1");
    if (r->npeak)
        h5_modes(&w, j);
    fit_h5r_group(&w, "/curves", NULL);
    for (size_t c = 0; c < r->ncurve; c++)
        h5_curve(&w, j, c);
    fit_h5r_group(&w, "/smoothing", NULL);
    fit_h5r_text(&w, "/smoothing/by", smoothing_word(j->words.smoothing));
    fit_h5r_real(&w, "/smoothing/strength", r->alpha, NULL);
    fit_h5r_real(&w, "/chi2", r->chi2, "1");
    free(part);
    return fit_h5r_close(&w, err);
}

static enum fit_status write_text(struct fit_json *text, const char *path, struct fit_error *err)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    const int lost = fit_json_put(text, f) != 0, bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return lost ? fit_no_memory(err, path) : FIT_OK;
}

enum fit_status contin_write(const struct contin_job *j, struct fit_error *err)
{
    struct fit_output out;
    struct fit_json text = {0};
    const char *path = NULL;
    enum fit_status st = fit_output_begin(&out, j->words.output, err);
    if (st != FIT_OK)
        return st;
    contin_json(&text, j);
    st = fit_output_add(&out, "contin.json", &path, err);
    if (st == FIT_OK)
        st = write_text(&text, path, err);
    if (st == FIT_OK && (st = fit_output_add(&out, "contin.h5", &path, err)) == FIT_OK)
        st = write_h5(j, path, err);
    if (st == FIT_OK && (st = fit_output_add(&out, "contin.svg", &path, err)) == FIT_OK)
        st = contin_draw_figure(j, path, err);
    fit_json_free(&text);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}
