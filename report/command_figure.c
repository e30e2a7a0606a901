/* command_figure.c -- `homodyne figure`: options, and the files of a composed figure; see command_figure.h.
 *
 * The same result and options give the same bytes: a PDF carries the date of the fit, no figure that of its making. */
#include "report/command_figure.h"

#include "base/json.h"
#include "base/number_text.h"
#include "base/output.h"
#include "common/stream.h"
#include "common/text.h"
#include "report/figures/compose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char rp_figure_usage[] =
    "homodyne figure RESULT [options]                one figure for a paper: panels a, b, c, ...\n"
    "\n"
    "      --columns 1|2           width of the journal's column, or of two; default 2\n"
    "      --panels LIST           maps, residuals, g2, D, shear, velocity, fraction, data, or the name of a\n"
    "                              curve; default: what the result has\n"
    "  -f, --format LIST           pdf, svg, png; default pdf\n"
    "      --dpi N                 of png; default 600\n"
    "      --font FAMILY[,PT]      default: sans-serif, 7.5 points\n"
    "      --style NAME            plain (default), pnas, aps, nature: letters, widths and font of a journal\n"
    "      --phi A,B,..            azimuths, deg; default: spread over all\n"
    "      --age S                 of g2: the nearest of the result's\n"
    "  -o, --output PATH           of the files, the ending may be left out; default RESULT/figures/figure\n";

struct figure_request {
    struct rp_wish wish;
    const char *result, *output, *format, *columns, *font, *style, *dots, *age;
    char family[128];
    double dpi;
    int quiet, json;
};

/* ---- options --------------------------------------------------------------------------------- */

static int take(struct figure_request *q, int argc, char **argv, int *k)
{
    const struct {
        const char *name, *letter;
        const char **to;
    } option[] = {{"--columns", NULL, &q->columns}, {"--panels", NULL, &q->wish.panels},
                  {"--format", "-f", &q->format},   {"--dpi", NULL, &q->dots},
                  {"--font", NULL, &q->font},       {"--style", NULL, &q->style},
                  {"--phi", NULL, &q->wish.phi},    {"--age", NULL, &q->age},
                  {"--output", "-o", &q->output}};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        const size_t n = strlen(option[i].name);
        if (strncmp(argv[*k], option[i].name, n) == 0 && argv[*k][n] == '=') {
            *option[i].to = argv[*k] + n + 1;
            return 1;
        }
        if (strcmp(argv[*k], option[i].name) != 0 && (!option[i].letter || strcmp(argv[*k], option[i].letter) != 0))
            continue;
        if (*k + 1 >= argc)
            return 0;
        *option[i].to = argv[++*k];
        return 1;
    }
    return 0;
}

static enum fit_status number(const char *option, const char *text, double least, double most, double *x,
                              struct fit_error *err)
{
    char *end;
    if (!text)
        return FIT_OK;
    *x = strtod(text, &end);
    if (end == text || *end || !(*x >= least && *x <= most))
        return fit_fail(err, FIT_ERR_USAGE, "figure: %s %s: a number from %g to %g", option, text, least, most);
    return FIT_OK;
}

static enum fit_status choose_style(struct figure_request *q, struct fit_error *err)
{
    char list[128] = "";
    q->wish.look = rp_looks;
    for (const struct rp_look *l = rp_looks; q->style && l->name; l++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", l->name);
        if (strcmp(l->name, q->style) == 0)
            q->wish.look = l;
    }
    if (q->style && strcmp(q->wish.look->name, q->style) != 0)
        return fit_fail(err, FIT_ERR_USAGE, "figure: --style %s is not known; there are %s", q->style, list);
    return FIT_OK;
}

/* "Helvetica,8" */
static enum fit_status choose_font(struct figure_request *q, struct fit_error *err)
{
    q->wish.letters = 7.5;
    snprintf(q->family, sizeof q->family, "%s", q->wish.look->font ? q->wish.look->font : "");
    if (!q->font)
        return FIT_OK;
    const char *comma = strchr(q->font, ',');
    const size_t n = comma ? (size_t)(comma - q->font) : strlen(q->font);
    if (n)
        snprintf(q->family, sizeof q->family, "%.*s", (int)n, q->font);
    return number("--font", comma ? comma + 1 : NULL, 5, 14, &q->wish.letters, err);
}

static int ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static enum fit_status choose_format(struct figure_request *q, struct fit_error *err)
{
    static const char *const known[] = {"pdf", "svg", "png"};
    if (!q->format && q->output)
        for (size_t k = 0; k < 3; k++)
            q->format = q->output[0] && ends_with(q->output, known[k]) ? known[k] : q->format;
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

static enum fit_status read_words(int argc, char **argv, struct figure_request *q, struct fit_error *err)
{
    *q = (struct figure_request){.dpi = 600, .wish = {.age = NAN}};
    for (int k = 0; k < argc; k++) {
        if (take(q, argc, argv, &k))
            continue;
        if (strcmp(argv[k], "-q") == 0 || strcmp(argv[k], "--quiet") == 0)
            q->quiet = 1;
        else if (strcmp(argv[k], "--json") == 0)
            q->json = 1;
        else if (argv[k][0] == '-')
            return fit_fail(err, FIT_ERR_USAGE, "figure: unknown option %s, or without its value; see --help", argv[k]);
        else if (q->result)
            return fit_fail(err, FIT_ERR_USAGE, "figure: one result at a time; got %s and %s", q->result, argv[k]);
        else
            q->result = argv[k];
    }
    return q->result ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "figure: which result? Give the folder that a fit wrote");
}

static enum fit_status read_request(int argc, char **argv, struct figure_request *q, struct fit_error *err)
{
    double columns = 2;
    enum fit_status st = read_words(argc, argv, q, err);
    if (st == FIT_OK)
        st = number("--columns", q->columns, 1, 2, &columns, err);
    if (st == FIT_OK && floor(columns) < columns)
        st = fit_fail(err, FIT_ERR_USAGE, "figure: --columns %s: 1 or 2", q->columns);
    q->wish.columns = (int)columns;
    if (st == FIT_OK)
        st = number("--dpi", q->dots, 50, 2400, &q->dpi, err);
    if (st == FIT_OK)
        st = number("--age", q->age, 0, 1e12, &q->wish.age, err);
    if (st == FIT_OK)
        st = choose_style(q, err);
    if (st == FIT_OK)
        st = choose_font(q, err);
    return st == FIT_OK ? choose_format(q, err) : st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum fit_status write_svg(const char *path, const struct rp_composed *f, const struct rp_paper *paper,
                                 const char *alt, struct fit_error *err)
{
    struct rp_canvas c;
    FILE *out = fopen(path, "w");
    if (!out)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written", path);
    struct rp_markup markup = {out};
    rp_put(&markup, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    rp_svg_paper(&c, &markup, paper, f->width, f->height, alt);
    rp_composed_draw(&c, f);
    enum fit_status st = rp_svg_close(&c, err);
    if (fclose(out) != 0 && st == FIT_OK)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written; is the disk full?", path);
    return st;
}

static enum fit_status write_one(const char *path, const struct rp_composed *f, const struct rp_paper *paper,
                                 const char *alt, struct fit_error *err)
{
    struct rp_canvas c;
    if (strcmp(paper->format, "svg") == 0)
        return write_svg(path, f, paper, alt, err);
    enum fit_status st = rp_cairo_open(&c, path, paper, f->width, f->height, err);
    if (st != FIT_OK)
        return st;
    rp_composed_draw(&c, f);
    return rp_cairo_close(&c, path, err);
}

/* Folder and name without ending. */
static void stem_of(const struct figure_request *q, const struct rp_result *r, char folder[1200], char stem[256])
{
    char path[1200];
    if (q->output)
        snprintf(path, sizeof path, "%s", q->output);
    else
        snprintf(path, sizeof path, "%s%sfigures/figure", r->fitted ? r->folder : "", r->fitted ? "/" : "");
    static const char *const end[] = {".pdf", ".svg", ".png"};
    for (size_t k = 0; k < 3; k++)
        if (ends_with(path, end[k])) {
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
    struct rp_paper paper = {.format = format,
                             .point = q->wish.letters / RP_FONT,
                             .dpi = q->dpi,
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
            st = write_one(path, f, &paper, caption, err);
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
    if (q->json) {
        say_json(q, f, folder, stem, caption);
        return;
    }
    if (q->quiet)
        return;
    for (const char *at = q->format; *at;) {
        const size_t n = strcspn(at, ",");
        fprintf(out, "%s%s%s.%.*s\n", strcmp(folder, ".") == 0 ? "" : folder,
                strcmp(folder, ".") == 0 || ends_with(folder, "/") ? "" : "/", stem, (int)n, at);
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
