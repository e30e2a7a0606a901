/* inspect.c -- `inspect` and `init`: the contents of a data file, and a short configuration that fits it.
 *
 * inspect lists layout, frames, period, wavevectors with their azimuths, and examines one matrix (blank frames,
 * values that are not finite, range). With -o, and always for init, the configuration is written; every value in it
 * comes from the file, except the gap, which no file contains. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/json.h"
#include "input/measurement.h"
#include "base/output.h"
#include "commands/program.h"
#include "input/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 256 << 20 }; /* bytes of matrices */

static const double same_q = 1e-9; /* relative: bins of one ring */

static int is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= same_q * fabs(a);
}

/* The wavevector in the file nearest to `wanted`; NaN: the first. */
static double nearest_q(const struct fit_source *src, double wanted)
{
    double best = src->nmatrix ? src->matrix[0].q : NAN;
    for (size_t k = 0; k < src->nmatrix && !isnan(wanted); k++)
        if (fabs(src->matrix[k].q - wanted) < fabs(best - wanted))
            best = src->matrix[k].q;
    return best;
}

static void print_bins(FILE *f, const struct fit_source *src, double chosen, int marked)
{
    for (size_t k = 0; k < src->nmatrix; k++) {
        int seen = 0;
        for (size_t m = 0; m < k; m++)
            seen = seen || is_same(src->matrix[m].q, src->matrix[k].q);
        if (seen)
            continue;
        if (isnan(src->matrix[k].q))
            fprintf(f, "  q not in the file");
        else
            fprintf(f, "  q %-12.6g", src->matrix[k].q);
        size_t n = 0;
        for (size_t m = k; m < src->nmatrix; m++) {
            if (!is_same(src->matrix[m].q, src->matrix[k].q))
                continue;
            if (isnan(src->matrix[m].phi) && n++ == 0)
                fprintf(f, "%s phi not in the file", isnan(src->matrix[k].q) ? "," : "");
            else if (!isnan(src->matrix[m].phi) && n++ < 8)
                fprintf(f, "%s%g", n == 1 ? " phi " : ", ", src->matrix[m].phi);
        }
        fprintf(f, "%s  (%zu matri%s)%s\n", n > 8 ? ", ..." : "", n, n == 1 ? "x" : "ces",
                marked && is_same(chosen, src->matrix[k].q) ? "  <- selected" : "");
    }
}

/* Blank frames, values that are not finite, and range, of one matrix; for the others of the same q, unless they are
 * large, notes on problems. */
struct look {
    size_t which, bad, blank;
    double least, most, mean;
};

static enum fit_status look_into(struct fit_source *src, size_t which, double *c2, struct look *x,
                                 struct fit_error *err)
{
    size_t n = src->nframe;
    double sum = 0;
    *x = (struct look){.which = which, .least = INFINITY, .most = -INFINITY};
    enum fit_status st = fit_source_read(src, which, c2, err);
    for (size_t i = 0; i < n && st == FIT_OK; i++) {
        int live = 0;
        for (size_t j = 0; j < n; j++) {
            double v = c2[i * n + j];
            live = live || (isfinite(v) && v > 0);
            if (j <= i)
                continue;
            x->bad += isfinite(v) ? 0 : 1;
            sum += isfinite(v) ? v : 0;
            x->least = isfinite(v) && v < x->least ? v : x->least;
            x->most = isfinite(v) && v > x->most ? v : x->most;
        }
        x->blank += live ? 0 : 1;
    }
    x->mean = sum / (0.5 * (double)n * (double)(n - 1) - (double)x->bad);
    return st;
}

static enum fit_status look_at(struct fit_source *src, double chosen, struct look *x, struct fit_error *err)
{
    const size_t n = src->nframe, most = LOOKED_AT / (n * n * sizeof(double));
    size_t first = 0, unseen = 0;
    FIT_OWNED double *c2 = malloc(n * n * sizeof *c2);
    if (!c2)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory for a matrix of %zu frames",
                        src->file, n);
    while (first + 1 < src->nmatrix && !is_same(src->matrix[first].q, chosen))
        first++;
    enum fit_status st = look_into(src, first, c2, x, err);
    for (size_t k = first + 1, seen = 1; k < src->nmatrix && st == FIT_OK; k++) {
        struct look other;
        if (!is_same(src->matrix[k].q, chosen))
            continue;
        if (seen++ >= most) {
            unseen++;
            continue;
        }
        st = look_into(src, k, c2, &other, err);
        if (st == FIT_OK && (other.bad || other.blank))
            fit_notes_doubt(&src->notes, "%s (phi = %g): %zu blank frame%s, %zu value%s not finite",
                            src->matrix[k].key, src->matrix[k].phi, other.blank, other.blank == 1 ? "" : "s",
                            other.bad, other.bad == 1 ? "" : "s");
    }
    const char *advice = st == FIT_OK && isfinite(x->mean) ? fit_measurement_doubt(x->mean) : NULL;
    if (advice)
        fit_notes_doubt(&src->notes, "%s has the mean %.4g; c2 is near 1 when normalised: %s",
                        src->matrix[first].key, x->mean, advice);
    char uneven[200];
    if (fit_source_is_uneven(src, uneven, sizeof uneven))
        fit_notes_doubt(&src->notes, "%s: the frames are not equally spaced, and a fit refuses them "
                        "(--dt yaml ignores the axis)", uneven);
    fit_source_tell(src, &src->notes);
    if (unseen)
        fit_notes_add(&src->notes, "%zu more matrices of this q were not looked at", unseen);
    return st;
}

static void print_look(FILE *f, const struct fit_source *src, const struct look *x)
{
    const char *key = src->matrix[x->which].key;
    if (x->least <= x->most)
        fprintf(f, "%s: values %.5g .. %.5g, mean %.5g\n", key, x->least, x->most, x->mean);
    else
        fprintf(f, "%s: no value is finite\n", key);
    fprintf(f, "  %zu blank frame%s, %zu value%s not finite\n", x->blank, x->blank == 1 ? "" : "s", x->bad,
            x->bad == 1 ? "" : "s");
}

static enum fit_status print_source(FILE *f, int terminal, struct fit_source *src, double chosen, int marked,
                                    struct fit_error *err)
{
    fprintf(f, "%s: layout %s, %zu matri%s of %zu frames\n", src->file, src->layout, src->nmatrix,
            src->nmatrix == 1 ? "x" : "ces", src->nframe);
    if (isnan(src->dt))
        fprintf(f, "the file does not give the frame period: fit and config take it with --dt S\n");
    else
        fprintf(f, "dt %g s (%s)\n", src->dt, src->dt_text);
    print_bins(f, src, chosen, marked);
    struct look x;
    enum fit_status st = src->nmatrix ? look_at(src, chosen, &x, err) : FIT_OK;
    for (size_t k = 0; k < src->notes.n; k++)
        fit_cli_put_note(f, terminal, src->notes.text[k]);
    if (st == FIT_OK && src->nmatrix)
        print_look(f, src, &x);
    return st;
}

static enum fit_status put_json(FILE *f, struct fit_source *src, double chosen, struct fit_error *err)
{
    struct fit_json j = {0};
    struct look x;
    enum fit_status st = src->nmatrix ? look_at(src, chosen, &x, err) : FIT_OK;
    if (st != FIT_OK)
        return st;
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", src->file);
    fit_json_string(&j, "layout", src->layout);
    fit_json_integer(&j, "frames", (int64_t)src->nframe);
    fit_json_number(&j, "dt", src->dt);
    fit_json_number(&j, "nearest_q", chosen);
    fit_json_begin(&j, "matrices", '[');
    for (size_t k = 0; k < src->nmatrix; k++) {
        fit_json_begin(&j, NULL, '{');
        fit_json_string(&j, "key", src->matrix[k].key);
        fit_json_number(&j, "q", src->matrix[k].q);
        fit_json_number(&j, "phi", src->matrix[k].phi);
        fit_json_end(&j);
    }
    fit_json_end(&j);
    if (src->nmatrix) {
        fit_json_begin(&j, "look", '{');
        fit_json_string(&j, "key", src->matrix[x.which].key);
        fit_json_number(&j, "least", x.least);
        fit_json_number(&j, "most", x.most);
        fit_json_number(&j, "mean", x.mean);
        fit_json_integer(&j, "blank_frames", (int64_t)x.blank);
        fit_json_integer(&j, "not_finite", (int64_t)x.bad);
        fit_json_end(&j);
    }
    fit_json_begin(&j, "notes", '[');
    for (size_t k = 0; k < src->notes.n; k++)
        fit_json_string(&j, NULL, src->notes.text[k]);
    fit_json_end(&j);
    fit_json_end(&j);
    return fit_json_put(&j, f) == 0 ? FIT_OK : fit_no_memory(err, NULL);
}

/* ---- configuration --------------------------------------------------------------------------- */

static int wants_gap(const struct fit_kernel *k)
{
    for (size_t s = 0; s < k->nsetting; s++)
        if (strcmp(k->setting[s].name, "gap") == 0)
            return 1;
    return 0;
}

static void put_angles(FILE *f, const struct fit_source *src, double q)
{
    size_t n = 0;
    fprintf(f, isnan(src->matrix[0].phi) ? "# azimuths are not in the file: give them when fitting, --phi D1,D2,.. "
                                           "one per matrix"
                                         : "# azimuths in the file:");
    for (size_t k = 0; k < src->nmatrix; k++)
        if (is_same(src->matrix[k].q, q) && !isnan(src->matrix[k].phi) && n++ < 40)
            fprintf(f, " %g", src->matrix[k].phi);
    fprintf(f,
            "%s\nphi_filtering:\n  enabled: false   # true: only these\n"
            "  target_ranges: [{min_angle: -10, max_angle: 10}, {min_angle: 80, max_angle: 100}]\n",
            n > 40 ? " ..." : "");
}

static void put_config(FILE *f, const struct fit_program *p, const struct fit_kernel *k,
                       const struct fit_source *src, const char *file, double q, double gap)
{
    char number[32];
    fprintf(f, "# For %s; values are those of the data file unless said otherwise.\n", p->name);
    fprintf(f, "analysis_mode: %s\nexperimental_data:\n  file_path: \"%s\"\nanalyzer_parameters:\n",
            k->name, file);
    if (isnan(src->dt)) {
        fprintf(f,
                "  dt: null             # s from frame to frame: the file does not say; FILL IN\n");
    } else {
        fit_format_double(number, sizeof number, src->dt);
        fprintf(f, "  dt: %s   # s\n", number);
    }
    fprintf(f,
            "  start_frame: 1       # from 1, inclusive\n  end_frame: -1        # the last: %zu\n",
            src->nframe);
    if (isnan(q)) {
        fprintf(
            f,
            "  scattering: {wavevector_q: null}   # 1/angstrom: the file does not say; FILL IN\n");
    } else {
        fit_format_double(number, sizeof number, q);
        fprintf(f, "  scattering: {wavevector_q: %s}   # 1/angstrom\n", number);
    }
    if (wants_gap(k)) {
        fit_format_double(number, sizeof number, isnan(gap) ? 2e6 : gap);
        fprintf(f, "  geometry: {stator_rotor_gap: %s}   # angstrom%s\n", number,
                isnan(gap) ? ": A GUESS (200 um), no file says it" : "");
    }
    if (src->nmatrix > 1)
        put_angles(f, src, q);
}

static enum fit_status write_config(const struct fit_program *p, const struct fit_cli *cli,
                                    const struct fit_kernel *k, const struct fit_source *src,
                                    double q, struct fit_error *err)
{
    char *text = NULL, *full = realpath(src->file, NULL);
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f)
        put_config(f, p, k, src, full ? full : src->file, q, cli->gap);
    enum fit_status st = f && fclose(f) == 0
                             ? fit_output_write(cli->output, text, size, err)
                             : fit_no_memory(err, cli->output);
    free(text);
    free(full);
    return st;
}

/* The file as described by the options: the layout, or matrices and axes by name. */
static enum fit_status open_file(const struct fit_cli *cli, const struct fit_kernel *k, struct fit_source **src,
                                 struct fit_error *err)
{
    struct fit_config *cfg;
    struct fit_selection sel;
    enum fit_status st = fit_config_new(k, &cfg, err);
    if (st == FIT_OK && cli->dataset)
        st = fit_config_override(cfg, "dataset", cli->dataset, NULL, err);
    if (st == FIT_OK && cli->columns)
        st = fit_config_override(cfg, "columns", cli->columns, NULL, err);
    if (st == FIT_OK) {
        fit_selection_from_config(cfg, &sel);
        sel.wish.layout = cli->layout;
        st = fit_source_open(cli->word[0], &sel.wish, src, err);
    }
    fit_config_free(cfg);
    return st;
}

enum fit_status fit_cmd_inspect(struct fit_program *p, const struct fit_cli *cli,
                                struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_source *src = NULL;
    int init = cli->command == FIT_COMMAND_INIT;
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK && cli->nword != 1)
        st = fit_fail(err, FIT_ERR_USAGE, "%s: give one data file",
                      fit_cli_command_name(cli->command));
    if (st == FIT_OK && init && !cli->output)
        st = fit_fail(err, FIT_ERR_USAGE, "init: -o CONFIG.yaml is missing");
    if (st == FIT_OK && cli->output && !cli->force)
        st = fit_output_is_new(cli->output, "-o", err);
    int is_table = 0;
    if (st == FIT_OK && !init && !cli->output)
        st = fit_inspect_table(p, cli, &is_table, err);
    if (is_table)
        return st;
    if (st == FIT_OK && k->space != FIT_PAIRS)
        st = fit_fail(err, FIT_ERR_USAGE,
                      "%s: for two-time data; a table needs no configuration (fit --data)",
                      fit_cli_command_name(cli->command));
    if (st == FIT_OK)
        st = open_file(cli, k, &src, err);
    if (st != FIT_OK)
        return st;
    double q = nearest_q(src, cli->q);
    if (cli->json)
        st = put_json(p->out, src, q, err);
    else if (!init && !cli->quiet)
        st = print_source(p->out, p->out_is_terminal, src, q, !isnan(cli->q) || cli->output != NULL, err);
    if (st == FIT_OK && cli->output)
        st = write_config(p, cli, k, src, q, err);
    if (st == FIT_OK && cli->output && !cli->quiet && !cli->json)
        fprintf(p->out, "%s: written; next: %s fit %s\n", cli->output, p->name, cli->output);
    fit_source_close(src);
    return st;
}
