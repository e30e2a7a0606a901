/* eval.c -- `eval`: values and derivatives of the model at given parameters, by the direct
 * formula.
 *
 * Pairs: an HDF5 file with /c2 (ngroup, N, N), /jacobian (ngroup, N, N, nparam + nlinear; linear
 * parameters last), /t, /phi, further axes, /parameters.  All (i, j) including the diagonal are evaluated with
 * kernel->points, block by block, so that memory stays small.  Table models: /column names, /mean,
 * /jacobian (nrow, ...); of models with axes their values for each group, and /group, the group of each row. */
#include "commands/model_grid.h"
#include "hdf5/h5_writer.h"
#include "base/output.h"
#include "commands/program.h"
#include "model/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 32 << 20 }; /* of derivatives held at a time */

static void write_names(struct fit_h5r *h, const struct fit_kernel *k)
{
    size_t n = k->nparam + k->nlinear;
    const char **name = calloc(n ? n : 1, sizeof *name), **unit = calloc(n ? n : 1, sizeof *unit);
    for (size_t i = 0; name && unit && i < n; i++) {
        const struct fit_param *p = fit_kernel_unknown(k, i);
        name[i] = p->name;
        unit[i] = p->unit;
    }
    if (name && unit) {
        fit_h5r_texts(h, "/parameters/name", n, name);
        fit_h5r_texts(h, "/parameters/unit", n, unit);
    }
    free(name);
    free(unit);
}

/* Attributes of the file, common to both spaces. */
static void write_head(struct fit_h5r *h, const struct fit_experiment *e)
{
    const struct fit_kernel *k = e->kernel;
    size_t np = k->nparam, nlin[2] = {e->layout.ngroup, k->nlinear};
    char path[128];
    fit_h5r_attribute(h, "/", "creator", "homodyne-gen " FIT_VERSION);
    fit_h5r_attribute(h, "/", "model", k->name);
    fit_h5r_attribute(h, "/", "model_sha256", k->hash);
    fit_h5r_attribute(h, "/", "variant", k->variant);
    fit_h5r_attribute(h, "/", "isa", k->isa);
    write_names(h, k);
    fit_h5r_reals(h, "/parameters/value", e->own ? 2 : 1, e->own ? (size_t[]){e->layout.ngroup, np} : &np, e->theta,
                  NULL);
    fit_h5r_reals(h, "/parameters/linear", 2, nlin, e->lin, NULL);
    for (size_t s = 0; s < k->nsetting; s++) {
        snprintf(path, sizeof path, "/settings/%s", k->setting[s].name);
        fit_h5r_real(h, path, e->setting[s], k->setting[s].unit);
    }
}

static enum fit_status write_pairs(struct fit_h5r *h, const struct fit_experiment *e,
                                   const struct fit_cli *cli, struct fit_error *err)
{
    size_t n = e->layout.nframe, ngroup = e->layout.ngroup,
           full = e->kernel->nparam + e->kernel->nlinear;
    size_t rows = (size_t)BLOCK_BYTES / (8 * n * (cli->jacobian ? full + 1 : 1));
    rows = rows < 1 ? 1 : rows > n ? n : rows;
    FIT_SCRATCH(scratch);
    double *mean = fit_take(&scratch, rows * n, sizeof *mean);
    double *jac = cli->jacobian ? fit_take(&scratch, rows * n * full, sizeof *jac) : NULL;
    enum fit_status st = FIT_OK;
    if (scratch.failed)
        st = fit_fail(err, FIT_ERR_MEMORY, "eval: out of memory for %zu rows of %zu points", rows,
                      n);
    fit_h5r_reals(h, "/t", 1, &n, e->time, "s");
    fit_h5r_reals(h, "/phi", 1, &ngroup, e->phi, "deg");
    for (size_t a = 0; a < e->kernel->naxis; a++) {
        char path[128];
        snprintf(path, sizeof path, "/%s", e->kernel->axis[a].name);
        if (strcmp(path, "/phi") != 0)
            fit_h5r_reals(h, path, 1, &ngroup, e->coord[a], e->kernel->axis[a].unit);
    }
    fit_h5r_empty(h, "/c2", 3, (size_t[]){ngroup, n, n}, "1");
    if (jac)
        fit_h5r_empty(h, "/jacobian", 4, (size_t[]){ngroup, n, n, full}, NULL);
    for (size_t g = 0; g < ngroup && st == FIT_OK; g++)
        for (size_t i = 0; i < n && st == FIT_OK; i += rows) {
            size_t m = i + rows < n ? rows : n - i;
            st = fit_experiment_rows(e, &(struct fit_experiment_part){g, i, i + m, 0, (int)cli->threads}, mean, jac,
                                     err);
            if (st != FIT_OK)
                break;
            fit_h5r_block(h, "/c2", (size_t[]){g, i, 0}, (size_t[]){1, m, n}, mean);
            if (jac)
                fit_h5r_block(h, "/jacobian", (size_t[]){g, i, 0, 0}, (size_t[]){1, m, n, full},
                              jac);
        }
    return st;
}

/* The group of each row, from 0. */
static void write_group(struct fit_h5r *h, const struct fit_experiment *e)
{
    FIT_OWNED int64_t *group = malloc((e->layout.nrow + 1) * sizeof *group);
    if (!group)
        fit_h5r_no_memory(h, "/group");
    for (size_t r = 0; group && r < e->layout.nrow; r++)
        group[r] = (int64_t)e->group[r];
    if (group)
        fit_h5r_integers(h, "/group", e->layout.nrow, group);
}

static enum fit_status write_rows(struct fit_h5r *h, struct fit_experiment *e,
                                  const struct fit_cli *cli, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    size_t n = e->layout.nrow, full = k->nparam + k->nlinear, dims[2] = {n, full};
    FIT_SCRATCH(scratch);
    double *mean = fit_take(&scratch, n, sizeof *mean);
    double *jac = cli->jacobian ? fit_take(&scratch, n * full, sizeof *jac) : NULL;
    if (scratch.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "eval: out of memory for %zu rows", n);
    enum fit_status st = fit_experiment_table(e, mean, jac, err);
    if (st != FIT_OK)
        return st;
    if (k->naxis)
        write_group(h, e);
    for (size_t a = 0; a < k->naxis; a++) { /* one value per group */
        char path[128];
        snprintf(path, sizeof path, "/%s", k->axis[a].name);
        fit_h5r_reals(h, path, 1, &e->layout.ngroup, e->coord[a], k->axis[a].unit);
    }
    for (size_t c = 0; c < k->ncolumn; c++) {
        char path[128];
        if (k->column[c].role != FIT_ROLE_COVARIATE)
            continue;
        snprintf(path, sizeof path, "/%s", k->column[c].name);
        fit_h5r_reals(h, path, 1, &n, e->column[c], k->column[c].unit);
    }
    fit_h5r_reals(h, "/mean", 1, &n, mean, NULL);
    if (jac)
        fit_h5r_reals(h, "/jacobian", 2, dims, jac, NULL);
    return FIT_OK;
}

static const char *value_name(const struct fit_kernel *k)
{
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == FIT_ROLE_VALUE)
            return k->column[c].name;
    return "of values";
}

static enum fit_status need_measured(const struct fit_experiment *e, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    if (!k->feedback || e->measured)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE,
                    "eval: in the model %s rows follow from what was measured in earlier ones: give --data FILE with "
                    "a column %s; simulate makes such data",
                    k->name, value_name(k));
}

enum fit_status fit_cmd_eval(struct fit_program *p, const struct fit_cli *cli,
                             struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_experiment *e = NULL;
    struct fit_output out = {0};
    struct fit_h5r h = {0};
    const char *temporary;
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK && !cli->output)
        st = fit_fail(err, FIT_ERR_USAGE, "eval: -o FILE.h5 is missing");
    if (st == FIT_OK)
        st = fit_experiment_file(cli->output, 0, err);
    if (st == FIT_OK)
        st = fit_experiment_new(k, cli, &e, err);
    if (st == FIT_OK)
        st = need_measured(e, err);
    if (st == FIT_OK)
        st = fit_experiment_prepare(e, cli->jacobian, err);
    if (st == FIT_OK)
        st = fit_output_one(&out, cli->output, &temporary, err);
    if (st == FIT_OK)
        st = fit_h5r_create(temporary, &h, err);
    if (st == FIT_OK) {
        write_head(&h, e);
        st = k->space == FIT_PAIRS ? write_pairs(&h, e, cli, err) : write_rows(&h, e, cli, err);
    }
    enum fit_status closed = fit_h5r_close(&h, st == FIT_OK ? err : NULL);
    st = st == FIT_OK ? closed : st;
    if (st == FIT_OK)
        st = fit_output_commit(&out, err);
    else
        fit_output_abandon(&out);
    if (st == FIT_OK && cli->json)
        st = fit_experiment_json(e, cli, p->out, err);
    fit_experiment_free(e);
    return st;
}
