/* eval.c -- `eval`: value, terms and gradient of the objective at an image. */
#include "imaging/commands.h"

#include <math.h>
#include <stdlib.h>

#include "imaging/output.h"
#include "imaging/planes.h"

static enum fit_status write_result(const struct fit_imaging *q, const char *file, double value, const double *gradient,
                                    struct fit_error *err)
{
    struct fit_h5r_file f;
    const enum fit_status s = fit_h5r_begin(&f, file, err);
    if (s != FIT_OK)
        return s;
    fit_imaging_put(&f.w, q, value, gradient);
    return fit_h5r_end(&f, FIT_OK, err);
}

enum fit_status fit_imaging_eval(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                 struct fit_error *err)
{
    struct fit_imaging *q;
    if (!o->image)
        return fit_fail(err, FIT_ERR_USAGE, "eval needs --image FILE.fits or FILE.h5:/PATH");
    enum fit_status s = fit_imaging_new(p->kernel, o, 0, &q, err);
    if (s != FIT_OK)
        return s;
    FIT_SCRATCH(a);
    s = fit_imaging_prepare(q, err);
    double *x = fit_take(&a, q->unknowns, sizeof *x), *gradient = fit_take(&a, q->unknowns, sizeof *gradient);
    if (s == FIT_OK && a.failed)
        s = fit_no_memory(err, "eval");
    if (s == FIT_OK) {
        fit_imaging_start(q, x);
        const double value = fit_bound_value(q->bound, x, gradient);
        if (!o->quiet) {
            fit_imaging_print_notes(p->err, &q->notes);
            fit_imaging_print(p->out, q, value);
        }
        if (!isfinite(value))
            s = fit_fail(err, FIT_ERR_NUMERIC, "the objective is %g at this image", value);
        else if (o->output && (s = write_result(q, o->output, value, gradient, err)) == FIT_OK && !o->quiet)
            fit_imaging_print_written(p->out, o->output, NULL);
    }
    fit_imaging_free(q);
    return s;
}
