/* command_figure.c -- `homodyne figure`: options, and the files of a composed figure; see command_figure.h.
 *
 * The same result and options give the same bytes: a PDF carries the date of the fit; no figure contains its own
 * date. */
#include "report/command_figure.h"

#include "base/command_line.h"
#include "base/json.h"
#include "base/number_text.h"
#include "base/output.h"
#include "base/units.h"
#include "common/stream.h"
#include "common/text.h"
#include "frontend/programs.h"
#include "report/figures/compose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {FRONT_FIGURE_ROWS};
const struct option_table rp_figure_options = {rows, sizeof rows / sizeof *rows};

struct figure_request {
    struct front_figure said;
    struct rp_wish wish;
    const char *result, *format;
    char family[128];
};

/* ---- options --------------------------------------------------------------------------------- */

static enum fit_status between(const char *option, double x, double least, double most, struct fit_error *err)
{
    return x >= least && x <= most ? FIT_OK
                                   : fit_fail(err, FIT_ERR_USAGE, "figure: --%s %g: give a number from %g to %g",
                                              option, x, least, most);
}

static enum fit_status choose_style(struct figure_request *q, struct fit_error *err)
{
    char list[128] = "";
    q->wish.look = rp_looks;
    const char *style = q->said.style;
    for (const struct rp_look *l = rp_looks; style && l->name; l++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", l->name);
        if (strcmp(l->name, style) == 0)
            q->wish.look = l;
    }
    if (style && strcmp(q->wish.look->name, style) != 0)
        return fit_fail(err, FIT_ERR_USAGE, "figure: --style %s is not known; there are %s", style, list);
    return FIT_OK;
}

/* "Helvetica,8" */
static enum fit_status choose_font(struct figure_request *q, struct fit_error *err)
{
    q->wish.letters = 7.5;
    snprintf(q->family, sizeof q->family, "%s", q->wish.look->font ? q->wish.look->font : "");
    const char *font = q->said.font, *comma = font ? strchr(font, ',') : NULL;
    const size_t n = font ? strcspn(font, ",") : 0;
    if (n)
        snprintf(q->family, sizeof q->family, "%.*s", (int)n, font);
    if (comma && !fit_number_parse(comma + 1, &q->wish.letters))
        return fit_fail(err, FIT_ERR_USAGE, "figure: --font '%s': give FAMILY,POINTS", font);
    return between("font", q->wish.letters, 5, 14, err);
}

static enum fit_status choose_format(struct figure_request *q, struct fit_error *err)
{
    static const char *const known[] = {"pdf", "svg", "png"};
    q->format = q->said.format;
    for (size_t k = 0; !q->said.format && q->said.output && k < 3; k++)
        q->format = text_ends_with(q->said.output, known[k]) ? known[k] : q->format;
    if (!q->format)
        q->format = rp_cairo_there() ? "pdf" : "svg";
    for (const char *at = q->format; *at;) {
        const size_t n = strcspn(at, ",");
        int k = 0;
        while (k < 3 && (strlen(known[k]) != n || strncmp(at, known[k], n) != 0))
            k++;
        if (k == 3)
            return fit_fail(err, FIT_ERR_USAGE, "figure: --format %.*s is not known; there are pdf, svg and png",
                            (int)n, at);
        if (k != 1 && !rp_cairo_there())
            return fit_fail(err, FIT_ERR_USAGE,
                            "figure: %s needs Cairo, without which this program was built; use --format svg", known[k]);
        at += n + (at[n] == ',');
    }
    return FIT_OK;
}

static enum fit_status choose(struct figure_request *q, const struct command_line *line, struct fit_error *err)
{
    if (!line->nword)
        return fit_fail(err, FIT_ERR_USAGE, "figure: no result is named; give the folder that a fit wrote");
    if (line->nword > 1)
        return fit_fail(err, FIT_ERR_USAGE, "figure: one result at a time; got %s and %s", line->word[0],
                        line->word[1]);
    q->result = line->word[0];
    q->wish = (struct rp_wish){
        .columns = (int)q->said.columns, .panels = q->said.panels, .phi = q->said.phi, .age = q->said.age};
    enum fit_status st = between("columns", (double)q->said.columns, 1, 2, err);
    if (st == FIT_OK)
        st = between("dpi", q->said.dpi, 50, 2400, err);
    if (st == FIT_OK && !isnan(q->said.age))
        st = between("age", q->said.age, 0, 1e12, err);
    if (st == FIT_OK)
        st = choose_style(q, err);
    if (st == FIT_OK)
        st = choose_font(q, err);
    return st == FIT_OK ? choose_format(q, err) : st;
}

static enum fit_status read_request(int argc, char **argv, struct figure_request *q, struct fit_error *err)
{
    const struct option_set set = {.table = {rp_figure_options}, .command = "figure", .help = "homodyne figure --help"};
    struct command_line line;
    *q = (struct figure_request){.said = {.columns = 2, .dpi = 600, .age = NAN}};
    enum fit_status st = fit_options_read(&set, argc, argv, 0, &q->said, &line, err);
    if (st == FIT_OK)
        st = choose(q, &line, err);
    options_free(&line);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void draw(struct rp_canvas *c, const void *what)
{
    rp_composed_draw(c, what);
}

/* Folder and name without ending. */
static void stem_of(const struct figure_request *q, const struct rp_result *r, char folder[1200], char stem[256])
{
    char path[1200];
    if (q->said.output)
        snprintf(path, sizeof path, "%s", q->said.output);
    else
        snprintf(path, sizeof path, "%s%sfigures/figure", r->fitted ? r->folder : "", r->fitted ? "/" : "");
    static const char *const end[] = {".pdf", ".svg", ".png"};
    for (size_t k = 0; k < 3; k++)
        if (text_ends_with(path, end[k])) {
            path[strlen(path) - 4] = '\0';
            break;
        }
    const char *name = text_file_name(path);
    snprintf(stem, 256, "%.200s", *name ? name : "figure");
    snprintf(folder, 1200, "%.*s", (int)(name - path), path);
    if (!*folder)
        snprintf(folder, 1200, ".");
}

static enum fit_status write_all(const struct figure_request *q, const struct rp_composed *f, const char *folder,
                                 const char *stem, const char *caption, struct fit_error *err)
{
    struct fit_output out;
    char name[300], format[8];
    const char *path;
    const struct rp_picture picture = {f->width, f->height, caption, draw, f};
    const struct rp_paper paper = {.format = format,
                             .point = q->wish.letters / RP_FONT,
                             .dpi = q->said.dpi,
                             .font = q->family[0] ? q->family : NULL,
                             .date = f->r->end_time};
    enum fit_status st = fit_output_begin(&out, folder, err);
    if (st != FIT_OK)
        return st;
    for (const char *at = q->format; *at && st == FIT_OK;) {
        const size_t n = strcspn(at, ",");
        snprintf(format, sizeof format, "%.*s", (int)n, at);
        snprintf(name, sizeof name, "%s.%s", stem, format);
        st = fit_output_add(&out, name, &path, err);
        if (st == FIT_OK)
            st = rp_picture_write(path, &paper, &picture, err);
        at += n + (at[n] == ',');
    }
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}

static void say_json(const struct figure_request *q, const struct rp_composed *f, const char *folder, const char *stem,
                     const char *caption)
{
    struct fit_json j = {0};
    char name[1600];
    const double mm = q->wish.letters / RP_FONT * 25.4 / 72;
    fit_json_begin(&j, NULL, '{');
    fit_json_begin(&j, "files", '[');
    for (const char *at = q->format; *at;) {
        const size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%s/%s.%.*s", folder, stem, (int)n, at);
        fit_json_string(&j, NULL, name);
        at += n + (at[n] == ',');
    }
    fit_json_end(&j);
    fit_json_number(&j, "width_mm", f->width * mm);
    fit_json_number(&j, "height_mm", f->height * mm);
    fit_json_string(&j, "caption", caption);
    fit_json_end(&j);
    fit_json_put(&j, text_stream(STDOUT_FILENO));
}

static void say(const struct figure_request *q, const struct rp_composed *f, const char *folder, const char *stem,
                const char *caption)
{
    const double mm = q->wish.letters / RP_FONT * 25.4 / 72;
    FILE *out = text_stream(STDOUT_FILENO);
    if (q->said.json) {
        say_json(q, f, folder, stem, caption);
        return;
    }
    if (q->said.quiet)
        return;
    for (const char *at = q->format; *at;) {
        const size_t n = strcspn(at, ",");
        fprintf(out, "%s%s%s.%.*s\n", strcmp(folder, ".") == 0 ? "" : folder,
                strcmp(folder, ".") == 0 || text_ends_with(folder, "/") ? "" : "/", stem, (int)n, at);
        at += n + (at[n] == ',');
    }
    fprintf(out, "%.1f mm x %.1f mm, letters of %.3g points\n", f->width * mm, f->height * mm, q->wish.letters);
    fit_put_wrapped(out, caption, 79, 0, 40);
}

enum fit_status rp_command_figure(int argc, char **argv, struct fit_error *err)
{
    struct figure_request q;
    struct rp_result r = {0};
    struct rp_composed f;
    char folder[1200], stem[256], caption[3000];
    enum fit_status st = read_request(argc, argv, &q, err);
    if (st == FIT_OK)
        st = rp_result_read(q.result, &r, err);
    if (st == FIT_OK)
        st = rp_compose(&r, &q.wish, &f, err);
    if (st == FIT_OK) {
        stem_of(&q, &r, folder, stem);
        rp_composed_caption(&f, caption, sizeof caption);
        st = write_all(&q, &f, folder, stem, caption, err);
    }
    if (st == FIT_OK)
        say(&q, &f, folder, stem, caption);
    rp_result_free(&r);
    return st;
}
