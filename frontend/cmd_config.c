/* cmd_config.c -- `config`: a short configuration with comments; it contains only what people edit.
 *
 * The values come from options, from a data file (period, q, azimuths, frames), or from answers to questions;
 * missing ones are left to the reader with a comment. Parameters are listed with their units, starts and bounds as
 * comments: by default starts are searched for. */
#define _XOPEN_SOURCE 700
#include "frontend/front.h"

#include "base/json.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/units.h"
#include "config/config.h"
#include "files/yaml_tree.h"
#include "input/select.h"
#include "input/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

/* The contents of the file; empty text, NaN and 0: missing. */
struct wish {
    char mode[64], data[LINE], gap[64], phi[256], method[32], output[LINE];
    double q, dt;
    long first, last;
    int dt_differs; /* from that of the file */
    struct fit_source *src; /* the data file, if it can be read */
    char *info;             /* `info --json` of the model */
    struct fit_yaml_doc *doc;
};

static void free_wish(struct wish *w)
{
    fit_source_close(w->src);
    free(w->info);
    if (w->doc)
        fit_yaml_free(w->doc);
}

/* ---- known values ---------------------------------------------------------------------------- */

static enum fit_status open_data(struct wish *w, struct fit_error *err)
{
    return w->data[0] ? fit_source_open(w->data, NULL, &w->src, err) : FIT_OK;
}

static void wanted(const struct wish *w, struct fit_selection *sel)
{
    fit_selection_init(sel, w->data);
    sel->q = w->q;
    sel->first_q = 1;
    sel->first = w->first;
    sel->last = w->last;
    sel->dt = w->dt;
    sel->dt_policy = FIT_DT_YAML; /* a value that differs from the file's is reported, and may be correct */
}

/* The wavevector of the file nearest to the requested one, as in a fit; the lowest by default. */
static enum fit_status settle_q(struct wish *w, struct fit_notes *notes, struct fit_error *err)
{
    struct fit_selection sel;
    size_t *index = NULL, n;
    if (!w->src)
        return FIT_OK;
    wanted(w, &sel);
    enum fit_status st = fit_select_matrices(w->src, &sel, &index, &n, notes, err);
    if (st == FIT_OK && n && !isnan(w->src->matrix[index[0]].q))
        w->q = w->src->matrix[index[0]].q;
    free(index);
    return st;
}

/* Frames and period in the file; notes are printed. */
static enum fit_status settle_time(struct front *f, struct wish *w, struct fit_notes *notes, int quiet,
                                   struct fit_error *err)
{
    struct fit_selection sel;
    size_t first, n;
    double dt;
    if (!w->src)
        return FIT_OK;
    wanted(w, &sel);
    enum fit_status st = fit_select_window(w->src, &sel, &first, &n, notes, err);
    const size_t before = notes->n;
    if (st == FIT_OK && !isnan(w->dt))
        st = fit_select_dt(w->src, &sel, &dt, notes, err);
    w->dt_differs = notes->n > before;
    for (size_t k = 0; st == FIT_OK && !quiet && k < notes->n; k++)
        fit_cli_put_note(f->err, f->err_is_terminal, notes->text[k]);
    fit_notes_free(notes);
    return st;
}

static enum fit_status read_info(struct front *f, struct wish *w, struct fit_error *err)
{
    struct front_fitter fitter;
    char *rest[] = {front_word("--json")};
    int code = 0;
    const int own = strchr(w->mode, '.') || strchr(w->mode, '/'); /* a model file */
    enum fit_status st = front_choose(f, own ? w->mode : NULL, NULL, own ? NULL : w->mode, 1, &fitter, err);
    char **word = st == FIT_OK ? front_words(&fitter, "info", rest, 1) : NULL;
    if (st == FIT_OK)
        st = word ? front_capture(fitter.program, word, &w->info, &code, err)
                  : fit_no_memory(err, NULL);
    if (st == FIT_OK && code != 0)
        st = fit_fail(err, FIT_ERR_INTERNAL, "%s info: exit status %d", fitter.program, code);
    if (st == FIT_OK)
        st = fit_yaml_parse(w->info, strlen(w->info), "info", &w->doc, err);
    free(word);
    return st;
}

static const char *info_text(const struct fit_yaml *node, const char *key)
{
    const struct fit_yaml *v = fit_yaml_get(node, key);
    return v && v->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(v) ? v->text : "";
}

static int is_pairs(const struct wish *w)
{
    return strcmp(info_text(fit_yaml_root(w->doc), "space"), "pairs") == 0;
}

/* Is this name among the model's settings or axes? */
static int has_name(const struct wish *w, const char *which, const char *name)
{
    const struct fit_yaml *list = fit_yaml_get(fit_yaml_root(w->doc), which);
    for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++)
        if (strcmp(info_text(list->entry[k].value, "name"), name) == 0)
            return 1;
    return 0;
}

static int wants_gap(const struct wish *w)
{
    return has_name(w, "settings", "gap");
}

/* ---- options --------------------------------------------------------------------------------- */

static enum fit_status get_frames(const char *text, struct wish *w, struct fit_error *err)
{
    char *end;
    w->first = strtol(text, &end, 10);
    w->last = *end == ':' && end[1] ? strtol(end + 1, &end, 10) : -1;
    if (w->first < 1 || (*end && strcmp(end, ":") != 0) || (w->last >= 0 && w->last < w->first))
        return fit_fail(err, FIT_ERR_USAGE, "--frames: '%s' is not FIRST:LAST, counted from 1",
                        text);
    return FIT_OK;
}

static enum fit_status get_quantity(const char *name, const char *unit, const char *text, double *x,
                                    struct fit_error *err)
{
    enum { SMALLEST_GAP = 10000 }; /* angstrom: a smaller number without a unit is meant in another unit */
    const enum fit_quantity kind = fit_quantity_parse(text, unit, x);
    if (kind == FIT_QUANTITY_BARE && strcmp(unit, "angstrom") == 0 && *x < SMALLEST_GAP)
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: %s angstrom is not a gap; write the unit, as in 200 um", name, text);
    if ((kind == FIT_QUANTITY_BARE || kind == FIT_QUANTITY_CONVERTED) && isfinite(*x) && *x > 0)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "%s: '%s' is not a number above 0 in %s", name, text, unit);
}

static void set(char *to, size_t size, const char *from)
{
    if (from)
        snprintf(to, size, "%s", from);
}

static enum fit_status read_options(const struct front_args *a, struct wish *w,
                                    struct fit_error *err)
{
    double gap;
    enum fit_status st = FIT_OK;
    *w = (struct wish){.q = NAN, .dt = NAN, .first = 1, .last = -1};
    set(w->data, sizeof w->data, option_value(&a->own, "data"));
    set(w->gap, sizeof w->gap, option_value(&a->own, "gap"));
    set(w->phi, sizeof w->phi, option_value(&a->own, "phi"));
    set(w->method, sizeof w->method, option_value(&a->own, "method"));
    snprintf(w->output, sizeof w->output, "%s",
             option_value(&a->own, "output") ? option_value(&a->own, "output") : "config.yaml");
    if (option_value(&a->own, "mode"))
        snprintf(w->mode, sizeof w->mode, "%.63s",
                 fit_config_canonical_mode(option_value(&a->own, "mode")));
    if (option_value(&a->own, "q"))
        st = get_quantity("--q", "1/angstrom", option_value(&a->own, "q"), &w->q, err);
    if (st == FIT_OK && option_value(&a->own, "dt"))
        st = get_quantity("--dt", "s", option_value(&a->own, "dt"), &w->dt, err);
    if (st == FIT_OK && w->gap[0])
        st = get_quantity("--gap", "angstrom", w->gap, &gap, err);
    if (st == FIT_OK && option_value(&a->own, "frames"))
        st = get_frames(option_value(&a->own, "frames"), w, err);
    if (st == FIT_OK && a->nrest)
        st = fit_fail(err, FIT_ERR_USAGE, "config: '%s' is too much; data are named by --data FILE",
                      a->rest[0]);
    return st;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Asks once; an empty answer means `given`, which may be in the same memory as the answer. 0: end of input. */
static int ask(struct front *f, const char *question, const char *given, char *answer, size_t size)
{
    fprintf(f->err, "%s%s%s%s: ", question, given[0] ? " [" : "", given, given[0] ? "]" : "");
    fflush(f->err);
    char line[LINE];
    if (*f->interrupt || !fgets(line, sizeof line, f->in))
        return 0;
    size_t n = strlen(line);
    while (n && strchr(" \t\r\n", line[n - 1]))
        line[--n] = '\0';
    const char *text = line + strspn(line, " \t");
    if (*text || answer != given)
        snprintf(answer, size, "%s", *text ? text : given);
    return 1;
}

static enum fit_status ended(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_INTERRUPTED, "no more answers; nothing was written");
}

static enum fit_status ask_data(struct front *f, struct wish *w, struct fit_error *err)
{
    for (;;) {
        if (!ask(f, "data file (Enter to skip)", w->data, w->data, sizeof w->data))
            return ended(err);
        if (open_data(w, err) == FIT_OK)
            break;
        fprintf(f->err, "  %s\n", err->message);
        w->data[0] = '\0';
    }
    if (w->src)
        fprintf(f->err, "  %s, %zu matri%s of %zu frames%s%s\n", w->src->layout, w->src->nmatrix,
                w->src->nmatrix == 1 ? "x" : "ces", w->src->nframe, isnan(w->src->dt) ? "" : ", ",
                isnan(w->src->dt) ? "" : w->src->dt_text);
    return FIT_OK;
}

static enum fit_status ask_mode(struct front *f, struct wish *w, struct fit_error *err)
{
    static const char *const known[][2] = {
        {"laminar", "sheared between two plates, homodyne"},
        {"static_isotropic", "at rest, the same in all directions"},
        {"static_anisotropic", "the same by the other name of configurations"},
        {"heterodyne", "two components, one flowing"},
    };
    char answer[64];
    for (size_t k = 0; k < 4; k++)
        fprintf(f->err, "  %zu %-19s %s\n", k + 1, known[k][0], known[k][1]);
    for (;;) {
        if (!ask(f, "model, number or name", w->mode[0] ? w->mode : "1", answer, sizeof answer))
            return ended(err);
        const int number = answer[0] >= '1' && answer[0] <= '4' && !answer[1];
        snprintf(w->mode, sizeof w->mode, "%s",
                 number ? known[answer[0] - '1'][0] : fit_config_canonical_mode(answer));
        if (read_info(f, w, err) == FIT_OK)
            return FIT_OK;
        fprintf(f->err, "  %s\n", err->message);
        w->mode[0] = '\0';
    }
}

static enum fit_status ask_number(struct front *f, const char *question, const char *unit,
                                  double *x, struct fit_error *err)
{
    char given[32] = "", answer[64];
    if (!isnan(*x))
        fit_format_double(given, sizeof given, *x);
    for (;;) {
        if (!ask(f, question, given, answer, sizeof answer))
            return ended(err);
        if (!answer[0] || get_quantity("  this", unit, answer, x, err) == FIT_OK)
            return FIT_OK;
        fprintf(f->err, "%s\n", err->message);
    }
}

static enum fit_status ask_q(struct front *f, struct wish *w, struct fit_notes *notes, struct fit_error *err)
{
    for (;;) {
        struct fit_notes offered = {0};
        enum fit_status st = isnan(w->q) ? settle_q(w, &offered, err) : FIT_OK;
        fit_notes_free(&offered);
        if (st != FIT_OK)
            return st;
        if (ask_number(f, "wavevector q, 1/angstrom", "1/angstrom", &w->q, err) != FIT_OK)
            return err->status;
        if (settle_q(w, notes, err) == FIT_OK)
            return FIT_OK;
        fprintf(f->err, "  %s\n", err->message);
        w->q = NAN;
    }
}

static enum fit_status ask_frames(struct front *f, struct wish *w, struct fit_notes *notes, struct fit_error *err)
{
    char answer[256];
    for (;;) {
        if (!ask(f, "frames FIRST:LAST (from 1; empty: all)", "", answer, sizeof answer))
            return ended(err);
        if ((!answer[0] || get_frames(answer, w, err) == FIT_OK) && settle_time(f, w, notes, 0, err) == FIT_OK)
            return FIT_OK;
        fprintf(f->err, "  %s\n", err->message);
        w->first = 1;
        w->last = -1;
    }
}

static enum fit_status ask_all(struct front *f, struct wish *w, struct fit_error *err)
{
    struct fit_notes notes = {0};
    enum fit_status st = ask_data(f, w, err);
    if (st == FIT_OK)
        st = ask_mode(f, w, err);
    if (st != FIT_OK || !is_pairs(w))
        return st;
    st = ask_q(f, w, &notes, err);
    if (st == FIT_OK && (!w->src || isnan(w->src->dt)))
        st = ask_number(f, "frame period, s", "s", &w->dt, err);
    while (st == FIT_OK && wants_gap(w)) {
        double gap;
        if (!ask(f, "gap of the plates, with its unit, as in 200 um", w->gap, w->gap, sizeof w->gap)) {
            st = ended(err);
            break;
        }
        if (!w->gap[0])
            fit_fail(err, FIT_ERR_USAGE, "  no file gives the gap; the shear rate is proportional to it");
        else if (get_quantity("  this", "angstrom", w->gap, &gap, err) == FIT_OK)
            break;
        fprintf(f->err, "%s\n", err->message);
        w->gap[0] = '\0';
    }
    if (st == FIT_OK)
        st = ask_frames(f, w, &notes, err);
    fit_notes_free(&notes);
    return st;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_parameters(FILE *out, const struct wish *w)
{
    static const char *const lists[] = {"parameters", "linear"};
    const struct fit_yaml *root = fit_yaml_root(w->doc);
    fprintf(
        out,
        "\n# Starts are searched for. To give some, or to fix or bound a parameter, uncomment:\n"
        "# initial_parameters:\n#   parameter_names: [");
    const struct fit_yaml *list = fit_yaml_get(root, lists[0]);
    for (size_t k = 0; list && k < list->n; k++)
        fprintf(out, "%s%s", k ? ", " : "", info_text(list->entry[k].value, "name"));
    fprintf(out, "]\n#   values: [");
    for (size_t k = 0; list && k < list->n; k++)
        fprintf(out, "%s%s", k ? ", " : "", info_text(list->entry[k].value, "start"));
    fprintf(out, "]\n#   fixed_parameters: {%s: %s}\n",
            list && list->n ? info_text(list->entry[list->n - 1].value, "name") : "NAME",
            list && list->n ? info_text(list->entry[list->n - 1].value, "start") : "0");
    fprintf(out, "# parameter_space:\n#   bounds:\n");
    for (size_t s = 0; s < 2; s++) {
        list = fit_yaml_get(root, lists[s]);
        for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++) {
            const struct fit_yaml *p = list->entry[k].value;
            const char *unit = info_text(p, "unit"), *low = info_text(p, "lower");
            const char *high = info_text(p, "upper");
            fprintf(out, "#     - {name: %s, min: %s, max: %s}   # %s%s%s\n", info_text(p, "name"),
                    *low ? low : "-.inf", *high ? high : ".inf", info_text(p, "doc"),
                    strcmp(unit, "1") != 0 && *unit ? ", " : "",
                    strcmp(unit, "1") != 0 ? unit : "");
        }
    }
}

static void put_q(FILE *out, const struct wish *w)
{
    char number[32];
    size_t n = 0;
    if (isnan(w->q)) {
        fprintf(out, "  scattering: {wavevector_q: null}   # as 0.0054 (1/angstrom) or 0.054 "
                     "nm^-1: FILL IN\n");
        return;
    }
    fit_format_double(number, sizeof number, w->q);
    fprintf(out, "  scattering: {wavevector_q: %s}   # 1/angstrom", number);
    for (size_t k = 0; w->src && k < w->src->nmatrix; k++) {
        int seen = 0;
        for (size_t m = 0; m < k; m++)
            seen |=
                fabs(w->src->matrix[m].q - w->src->matrix[k].q) <= 1e-9 * fabs(w->src->matrix[k].q);
        if (!seen && !isnan(w->src->matrix[k].q) && n++ < 6)
            fprintf(out, "%s%.6g", n == 1 ? "; in the file: " : ", ", w->src->matrix[k].q);
    }
    fprintf(out, "%s\n", n > 6 ? ", ..." : "");
}

/* Matrices of the chosen q, and how many of them have no azimuth. */
static size_t count_matrices(const struct wish *w, size_t *nameless)
{
    size_t n = 0;
    *nameless = 0;
    for (size_t k = 0; w->src && k < w->src->nmatrix; k++)
        if (isnan(w->q) || isnan(w->src->matrix[k].q) || fabs(w->src->matrix[k].q - w->q) <= 1e-9 * w->q) {
            *nameless += isnan(w->src->matrix[k].phi) ? 1 : 0;
            n++;
        }
    return n;
}

/* "0,45,90": returns how many numbers; 0: something else. */
static size_t count_numbers(const char *text)
{
    size_t n = 0;
    while (*text) {
        char *end;
        (void)strtod(text, &end);
        if (end == text || (*end && *end != ','))
            return 0;
        n++;
        text = end + (*end == ',');
    }
    return n;
}

/* The azimuths that the file lacks. */
static enum fit_status put_labels(FILE *out, const struct wish *w, size_t all, struct fit_error *err)
{
    if (!*w->phi)
        fprintf(out, "phi_filtering:\n  angles: null   # degrees, as [0, 45, 90]: the file has none, one for each "
                     "of %zu matrices: FILL IN\n", all);
    else if (count_numbers(w->phi) != all)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--phi: '%s': the file has no azimuths; give one for each of %zu matrices, in degrees, such "
                        "as 0,45,90",
                        w->phi, all);
    else
        fprintf(out, "phi_filtering:\n  angles: [%s]   # degrees, one for each matrix of the file\n", w->phi);
    return FIT_OK;
}

/* "-10:10,80:100" -> ranges; without any, an example that is switched off. */
static enum fit_status put_angles(FILE *out, const struct wish *w, struct fit_error *err)
{
    const char *at = w->phi;
    size_t n = 0, nameless, all = count_matrices(w, &nameless);
    if (nameless && all > 1 && has_name(w, "axes", "phi"))
        return put_labels(out, w, all, err);
    if (w->src && !nameless) {
        fprintf(out, "# azimuths in the file, degrees:");
        for (size_t k = 0; k < w->src->nmatrix; k++)
            if ((isnan(w->q) || fabs(w->src->matrix[k].q - w->q) <= 1e-9 * w->q) && n++ < 12)
                fprintf(out, " %g", w->src->matrix[k].phi);
        fprintf(out, "%s\n", n > 12 ? " ..." : "");
    }
    fprintf(out,
            "phi_filtering:\n  enabled: %s   # %s\n  target_ranges:   # degrees; min > max goes "
            "through 180\n",
            *at ? "true" : "false", *at ? "false: all azimuths" : "true: only these");
    if (!*at)
        at = "-10:10,80:100";
    while (*at) {
        char *end, *last = NULL;
        const double lower = strtod(at, &end);
        const double upper = end != at && *end == ':' ? strtod(end + 1, &last) : 0;
        if (!last || last == end + 1 || (*last && *last != ','))
            return fit_fail(err, FIT_ERR_USAGE, "--phi: '%s' is not a list of ranges such as -10:10,80:100",
                            w->phi);
        fprintf(out, "    - {min_angle: %g, max_angle: %g}\n", lower, upper);
        at = last + (*last == ',');
    }
    return FIT_OK;
}

static enum fit_status put_pairs(FILE *out, const struct wish *w, struct fit_error *err)
{
    char number[32];
    fprintf(out, "\nanalyzer_parameters:\n");
    if (!isnan(w->dt) || (w->src && !isnan(w->src->dt))) {
        fit_format_double(number, sizeof number, isnan(w->dt) ? w->src->dt : w->dt);
        fprintf(out, "  dt: %s   # s from frame to frame%s\n", number,
                isnan(w->dt) ? ", as the data file says"
                : w->dt_differs ? "; the data file says another: fit with --dt yaml" : "");
    } else {
        fprintf(
            out,
            w->src
                ? "  dt: null   # s from frame to frame; the data file does not say it: FILL IN\n"
                : "  # dt: 0.1   # s from frame to frame; needed when the data file does not say "
                  "it\n");
    }
    fprintf(out, "  start_frame: %ld   # from 1, inclusive\n  end_frame: %ld   # ", w->first,
            w->last);
    if (w->src)
        fprintf(out, "-1: the last, %zu\n", w->src->nframe);
    else
        fprintf(out, "-1: the last\n");
    put_q(out, w);
    if (wants_gap(w))
        fprintf(out, "  geometry: {stator_rotor_gap: %s}   # %s\n", w->gap[0] ? w->gap : "null",
                w->gap[0] ? "with a unit, or in angstrom" : "as 200 um, or in angstrom: FILL IN");
    return put_angles(out, w, err);
}

/* A path for use in a file at `output`. */
static void put_data(FILE *out, const struct wish *w)
{
    char *full = w->data[0] ? realpath(w->data, NULL) : NULL;
    const char *slash = strrchr(w->output, '/');
    const int beside = !slash && w->data[0] != '/'; /* the configuration stands in this folder */
    const char *path = !w->data[0]       ? (is_pairs(w) ? "data.h5" : "data.csv")
                       : beside || !full ? w->data
                                         : full;
    fprintf(out, "\nexperimental_data:\n  file_path: \"");
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)*c);
        else
            fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    fprintf(out, "\"   # %s\n",
            w->data[0] ? beside ? "relative to this file" : "absolute"
                       : "relative to this file: FILL IN");
    free(full);
}

static enum fit_status write_text(FILE *out, const struct wish *w, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const char *mode = fit_config_written_mode(w->mode);
    fprintf(out,
            "# %.76s\n# Check it: homodyne validate FILE.   Fit: homodyne fit FILE\n"
            "analysis_mode: %s\n",
            info_text(fit_yaml_root(w->doc), "title"), mode);
    put_data(out, w);
    if (is_pairs(w))
        st = put_pairs(out, w, err);
    put_parameters(out, w);
    fprintf(out,
            "\noptimization:\n  method: %s   # nlsq: least squares; nuts: the posterior; laplace: "
            "an approximation\n\noutput:\n  output_dir: %s_results\n",
            w->method[0] ? w->method : "nlsq", w->mode);
    return st;
}

static void say_next(const struct front *f, const struct wish *w, int holes)
{
    char text[2 * LINE + 200];
    snprintf(text, sizeof text, "%s: written; next: %s%s%shomodyne validate %s", w->output,
             holes ? "fill in what is marked" : "",
             holes && is_pairs(w) && w->src && isnan(w->dt) && isnan(w->src->dt) ? " (dt, or give --dt S)" : "",
             holes ? ", then " : "", w->output);
    fit_cli_put_line(f->out, f->out_is_terminal, text);
}

static enum fit_status write_config(struct front *f, const struct front_args *a,
                                    const struct wish *w, struct fit_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fit_no_memory(err, NULL);
    enum fit_status st = write_text(out, w, err);
    if (fclose(out) != 0 && st == FIT_OK)
        st = fit_no_memory(err, NULL);
    if (st == FIT_OK && strcmp(w->output, "-") == 0)
        fputs(text, f->out);
    else if (st == FIT_OK)
        st = fit_output_write(w->output, text, size, err);
    const int holes = strstr(text ? text : "", "FILL IN") != NULL;
    free(text);
    if (st == FIT_OK && a->json) {
        struct fit_json j = {0};
        fit_json_begin(&j, NULL, '{');
        fit_json_string(&j, "file", w->output);
        fit_json_string(&j, "model", w->mode);
        fit_json_boolean(&j, "complete", !holes);
        fit_json_end(&j);
        fit_json_put(&j, f->out);
    } else if (st == FIT_OK && strcmp(w->output, "-") != 0 && !option_given(&a->own, "quiet"))
        say_next(f, w, holes);
    return st;
}

enum fit_status front_cmd_config(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct wish w;
    struct fit_notes notes = {0};
    if (option_given(&a->own, "keys") && a->json)
        return fit_fail(err, FIT_ERR_USAGE, "config: --keys is a table for people; it has no --json");
    if (option_given(&a->own, "keys"))
        return front_keys(f, a, err);
    enum fit_status st = read_options(a, &w, err);
    const int asked =
        option_given(&a->own, "interactive") || (f->in_is_terminal && !w.mode[0]);
    if (st == FIT_OK && a->json && strcmp(w.output, "-") == 0)
        st = fit_fail(err, FIT_ERR_USAGE, "config: --json with -o FILE; the screen is for one of the two");
    if (st == FIT_OK && strcmp(w.output, "-") != 0 && !option_given(&a->own, "force") &&
        !option_given(&a->own, "overwrite"))
        st = fit_output_is_new(w.output, "-o", err);
    if (st == FIT_OK && asked)
        st = ask_all(f, &w, err);
    else if (st == FIT_OK && !w.mode[0])
        st = fit_fail(err, FIT_ERR_USAGE,
                      "config: --mode is missing: laminar_flow, static_isotropic, "
                      "static_anisotropic, heterodyne or another of `homodyne models`");
    else if (st == FIT_OK && (st = read_info(f, &w, err)) == FIT_OK && is_pairs(&w) &&
             (st = open_data(&w, err)) == FIT_OK && (st = settle_q(&w, &notes, err)) == FIT_OK)
        st = settle_time(f, &w, &notes, option_given(&a->own, "quiet"), err);
    if (st == FIT_OK)
        st = write_config(f, a, &w, err);
    fit_notes_free(&notes);
    free_wish(&w);
    return st;
}
