/* main.c -- homodyne-report: the page about a fit, and its figures as files.
 *
 *     homodyne-report report RESULT [-o report.html]
 *     homodyne-report plot RESULT [--format svg|png|pdf|html] [-o FOLDER]
 *     homodyne-report compare RESULT RESULT --told FILE -o PAGE      the output of `homodyne compare`, as a page
 *     homodyne-report live RESULT          the data for the scripts of a page, as JSON on standard output
 *     homodyne-report figure RESULT [options]                                 command_figure.c
 *
 * RESULT: the folder that a fit wrote, or the file of data that `homodyne-MODEL extract` wrote. It is not changed;
 * files appear complete or not at all. Exit codes as those of the fitters: 0, 3 usage, 4 data. */
#include "base/progress_line.h"
#include "report/figures/figures.h"
#include "base/command_line.h"
#include "base/json.h"
#include "base/output.h"
#include "frontend/programs.h"
#include "report/command_figure.h"
#include "report/images/images.h"
#include "report/page/page.h"

#include "common/signals.h"
#include "common/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    int plot, live, pair;
    struct front_drawing said;
    const char *result, *second, *format; /* second: of `compare` */
    size_t nthreshold; /* of a survey of images */
    struct fit_named_number threshold[FIT_IMAGING_MOST_WEIGHTS];
    struct fit_arena arena;
};

/* ---- command line ---------------------------------------------------------------------------- */

#define COMMAND_ROW \
    {"command", 0, "TEXT", "of data: the command that the page names as its origin", 0, FRONT_DRAWING(TEXT, command)}

static const struct option_row plot_rows[] = {FRONT_PLOT_ROWS, COMMAND_ROW};
static const struct option_row report_rows[] = {FRONT_REPORT_ROWS, COMMAND_ROW};

static const struct option_row pair_rows[] = {
    {"output", 'o', "FILE", "the page", 0, FRONT_DRAWING(TEXT, output)},
    {"told", 0, "FILE", "what `homodyne compare` says", 0, FRONT_DRAWING(TEXT, told)},
    {"json", 0, NULL, "the file that was written, as JSON", 0, FRONT_DRAWING(FLAG, json)},
    {"quiet", 'q', NULL, "print nothing but errors", 0, FRONT_DRAWING(FLAG, quiet)},
};

/* The commands. */
static const struct command {
    const char *name, *usage;
    struct option_table options;
} commands[] = {
    {"report", "RESULT [options]\n    one HTML page about a fit, with all figures",
     {report_rows, sizeof report_rows / sizeof *report_rows}},
    {"plot", "RESULT [options]\n    its figures, a file each", {plot_rows, sizeof plot_rows / sizeof *plot_rows}},
    {"figure", "RESULT [options]\n    one figure for a paper: panels a, b, c, ...", {NULL, 0}},
    {"compare", "RESULT RESULT --told FILE -o PAGE\n    what `homodyne compare` says, as a page",
     {pair_rows, sizeof pair_rows / sizeof *pair_rows}},
    {"live", "RESULT\n    what the scripts of a page know, as JSON",
     {report_rows, sizeof report_rows / sizeof *report_rows}},
};
enum { NCOMMAND = sizeof commands / sizeof *commands };

static const struct command *find_command(const char *name)
{
    for (size_t k = 0; k < NCOMMAND; k++)
        if (strcmp(commands[k].name, name) == 0)
            return &commands[k];
    return NULL;
}

/* of: NULL: all commands. */
static void put_help(FILE *out, const struct command *of)
{
    for (size_t k = 0; k < NCOMMAND; k++) {
        if (of && of != &commands[k])
            continue;
        fprintf(out, "homodyne-report %s %s\n\n", commands[k].name, commands[k].usage);
        if (of)
            options_put(out, commands[k].options.n ? &commands[k].options : &rp_figure_options);
    }
    fprintf(out,
            "%sRESULT is the folder that `homodyne fit` wrote, the file of `homodyne-MODEL extract`, or a\n"
            "file with images that `homodyne-imaging fit` or `survey` wrote.\n",
            of ? "\n" : "");
}

static enum fit_status choose_format(struct request *q, struct fit_error *err)
{
    q->format = !q->plot || !q->said.format ? "svg" : q->said.format;
    if (strcmp(q->format, "auto") == 0)
        q->format = rp_cairo_there() ? "png" : "svg";
    const int by_cairo = strcmp(q->format, "png") == 0 || strcmp(q->format, "pdf") == 0;
    if (!by_cairo && strcmp(q->format, "svg") != 0 && strcmp(q->format, "html") != 0)
        return fit_fail(err, FIT_ERR_USAGE, "plot: --format %s is not known; there are svg, png, pdf and html",
                        q->format);
    if (by_cairo && !rp_cairo_there())
        return fit_fail(err, FIT_ERR_USAGE,
                        "plot: %s needs Cairo, without which this program was built; use --format svg", q->format);
    return FIT_OK;
}

static enum fit_status check_request(struct request *q, const char *command, struct fit_error *err)
{
    if (!q->result)
        return fit_fail(err, FIT_ERR_USAGE, "%s: no result is named; give the folder that a fit wrote", command);
    if (q->pair && (!q->second || !q->said.told || !q->said.output))
        return fit_fail(err, FIT_ERR_USAGE, "%s: pages of two results are made by `homodyne compare A B --report`",
                        command);
    return choose_format(q, err);
}

static enum fit_status read_request(int argc, char **argv, struct request *q, struct fit_error *err)
{
    const struct command *c = find_command(argv[1]);
    char help[64];
    struct command_line line;
    *q = (struct request){.plot = strcmp(argv[1], "plot") == 0,
                          .live = strcmp(argv[1], "live") == 0,
                          .pair = strcmp(argv[1], "compare") == 0};
    if (!c)
        return fit_fail(err, FIT_ERR_USAGE, "'%s' is not a command; there are report, plot, figure and live", argv[1]);
    const struct option_set set = {.table = {c->options}, .command = c->name, .help = help};
    snprintf(help, sizeof help, "homodyne %.20s --help", c->name);
    enum fit_status st = fit_options_read(&set, argc, argv, 2, &q->said, &line, err);
    const size_t most = q->pair ? 2 : 1;
    if (st == FIT_OK && line.nword > most)
        st = fit_fail(err, FIT_ERR_USAGE, "%s: one result at a time; got %s and %s", c->name, line.word[0],
                      line.word[most]);
    if (st == FIT_OK) {
        q->result = line.nword ? line.word[0] : NULL;
        q->second = line.nword > 1 ? line.word[1] : NULL;
        const struct option_given threshold = {.name = "threshold", .value = q->said.threshold};
        if (q->said.threshold)
            st = fit_options_numbers(&threshold, OPTION_POSITIVE, &q->arena, FIT_IMAGING_MOST_WEIGHTS, q->threshold,
                                     &q->nthreshold, err);
    }
    options_free(&line);
    return st == FIT_OK ? check_request(q, c->name, err) : st;
}

/* ---- the two commands ------------------------------------------------------------------------ */

/* A page with its figures (format NULL), or a folder of files. */
static void put_json(const char *where, const struct rp_figures *list, const char *format)
{
    struct fit_json j = {0};
    char name[80];
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, format ? "folder" : "file", where);
    fit_json_begin(&j, format ? "files" : "figures", '[');
    for (size_t k = 0; k < list->n; k++) {
        snprintf(name, sizeof name, "%s%s%s", list->figure[k].name, format ? "." : "", format ? format : "");
        fit_json_string(&j, NULL, name);
    }
    fit_json_end(&j);
    fit_json_end(&j);
    fit_json_put(&j, text_stream(STDOUT_FILENO));
}

/* Of a fit into its folder, of data into the current one. */
static void page_path(const struct request *q, const struct rp_result *r, char *path, size_t size)
{
    if (q->said.output && q->plot)
        snprintf(path, size, "%s/figures.html", q->said.output);
    else if (q->said.output)
        snprintf(path, size, "%s", q->said.output);
    else
        snprintf(path, size, "%s%s%s", r->fitted ? r->folder : "", r->fitted ? "/" : "",
                 !r->fitted ? "data.html"
                 : q->plot  ? "figures/figures.html"
                            : "report.html");
}

/* The subject of a page: a result and its figures; r NULL: the images or the batch folder that q names. */
struct page {
    const struct request *q;
    const struct rp_result *r;
    const struct rp_figures *list;
    enum fit_status (*write)(struct rp_markup *out, const struct page *p, struct fit_error *err);
};

/* Writes the page, complete or not at all, and prints a message about it. */
static enum fit_status put_page(const struct page *p, const char *path, struct fit_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fit_no_memory(err, "page");
    enum fit_status st = p->write(&(struct rp_markup){out}, p, err);
    if (fclose(out) != 0 && st == FIT_OK)
        st = fit_no_memory(err, "page");
    if (st == FIT_OK)
        st = fit_output_write(path, text, size, err);
    free(text);
    if (st == FIT_OK && p->q->said.json)
        put_json(path, p->list, NULL);
    else if (st == FIT_OK && !p->q->said.quiet && p->r)
        fprintf(text_stream(STDOUT_FILENO), "%s  (%zu figure%s, %.0f kB)\n", path, p->list->n,
                p->list->n == 1 ? "" : "s", (double)size / 1e3);
    else if (st == FIT_OK && !p->q->said.quiet)
        fprintf(text_stream(STDOUT_FILENO), "%s  (%.0f kB)\n", path, (double)size / 1e3);
    return st;
}

static enum fit_status of_result(struct rp_markup *out, const struct page *p, struct fit_error *err)
{
    return rp_page_write(out, p->r, p->list, err);
}

static enum fit_status of_images(struct rp_markup *out, const struct page *p, struct fit_error *err)
{
    return rp_images_write(out, p->q->result, p->q->nthreshold, p->q->threshold, err);
}

static enum fit_status of_series(struct rp_markup *out, const struct page *p, struct fit_error *err)
{
    return rp_series_write(out, p->q->result, p->q->said.axis, err);
}

static enum fit_status of_pair(struct rp_markup *out, const struct page *p, struct fit_error *err)
{
    return rp_pair_write(out, (const char *const[]){p->q->result, p->q->second}, p->q->said.told, err);
}

static enum fit_status write_page(const struct request *q, const struct rp_result *r,
                                  const struct rp_figures *list, struct fit_error *err)
{
    char path[1100];
    page_path(q, r, path, sizeof path);
    return put_page(&(struct page){q, r, list, of_result}, path, err);
}

/* The page about images, beside their file: survey.h5 -> survey.html. */
static enum fit_status write_images(const struct request *q, struct fit_error *err)
{
    char path[1100];
    const char *dot = strrchr(q->result, '.');
    if (q->plot)
        return fit_fail(err, FIT_ERR_USAGE, "plot: %s holds images; their page is made by `report`", q->result);
    snprintf(path, sizeof path, "%.*s.html", (int)(dot ? dot - q->result : (long)strlen(q->result)), q->result);
    const char *to = q->said.output ? q->said.output : path;
    return put_page(&(struct page){q, NULL, &(struct rp_figures){0}, of_images}, to, err);
}

/* The folder of a batch: a table of fits, none of its own. */
static int is_series(const struct request *q)
{
    char path[1200];
    snprintf(path, sizeof path, "%.1100s/fit.json", q->result);
    if (q->plot || access(path, F_OK) == 0)
        return 0;
    snprintf(path, sizeof path, "%.1100s/series.h5", q->result);
    return access(path, F_OK) == 0;
}

static enum fit_status write_series(const struct request *q, struct fit_error *err)
{
    char path[1200];
    if (!is_series(q))
        return fit_fail(err, FIT_ERR_USAGE, "--axis belongs to the folder of a batch; %s is none", q->result);
    if (q->said.output)
        snprintf(path, sizeof path, "%.1100s", q->said.output);
    else
        snprintf(path, sizeof path, "%.1100s/report.html", q->result);
    return put_page(&(struct page){q, NULL, &(struct rp_figures){0}, of_series}, path, err);
}

struct drawn {
    const struct rp_result *r;
    const struct rp_figure *f;
};

static void draw(struct rp_canvas *c, const void *what)
{
    const struct drawn *d = what;
    d->f->draw(c, d->r, d->f);
}

static enum fit_status write_figure(const char *format, const char *path, const struct rp_result *r,
                                    const struct rp_figure *f, struct fit_error *err)
{
    const struct rp_paper paper = {.format = format, .point = 0.75, .dpi = 192, .date = r->end_time};
    const struct drawn drawn = {r, f};
    return rp_picture_write(path, &paper, &(struct rp_picture){f->width, f->height, f->alt, draw, &drawn}, err);
}

static enum fit_status write_figures(const struct request *q, const struct rp_result *r,
                                     const struct rp_figures *list, struct fit_error *err)
{
    char folder[1100], name[80];
    const char *path;
    enum fit_status st = FIT_OK;
    snprintf(folder, sizeof folder, "%s%sfigures", r->fitted ? r->folder : "",
             r->fitted ? "/" : "");
    const char *where = q->said.output ? q->said.output : folder;
    struct fit_progress_view view = {0};
    fit_progress_begin(&view, text_stream(STDERR_FILENO), isatty(STDERR_FILENO), NULL, q->said.quiet, err);
    fit_progress_phase(&view, "drawing");
    for (size_t k = 0; k < list->n && st == FIT_OK;) {
        struct fit_output out; /* as many files at a time as it takes */
        if ((st = fit_output_begin(&out, where, err)) != FIT_OK)
            break;
        for (size_t n = 0; n < FIT_OUTPUT_MAX && k < list->n && st == FIT_OK; n++, k++) {
            snprintf(name, sizeof name, "%s.%s", list->figure[k].name, q->format);
            st = fit_output_add(&out, name, &path, err);
            if (st == FIT_OK)
                st = write_figure(q->format, path, r, &list->figure[k], err);
            fit_progress_part(&view, (double)k + 1, (double)list->n);
        }
        if (st == FIT_OK)
            st = fit_output_commit(&out, err);
        else
            fit_output_abandon(&out);
    }
    fit_progress_clear(&view);
    if (st == FIT_OK && q->said.json)
        put_json(where, list, q->format);
    else if (st == FIT_OK && !q->said.quiet)
        fprintf(text_stream(STDOUT_FILENO), "%s: %zu figures\n", where, list->n);
    return st;
}

static enum fit_status write_live(const struct request *q, const struct rp_result *r, const struct rp_figures *list,
                                  struct fit_error *err)
{
    (void)q;
    return rp_page_values(&(struct rp_markup){text_stream(STDOUT_FILENO)}, r, list, err);
}

/* Reports an error if the output could not be written. */
static int finish(enum fit_status st, struct fit_error *err)
{
    FILE *out = text_stream(STDOUT_FILENO);
    if (st == FIT_OK && (fflush(out) != 0 || ferror(out)))
        st = fit_fail(err, FIT_ERR_IO, "standard output cannot be written");
    if (st != FIT_OK)
        fprintf(text_stream(STDERR_FILENO), "homodyne: %s\n", err->message);
    return fit_status_exit(st);
}

static void on_signal(int number)
{
    (void)number;
    _exit(130);
}

int main(int argc, char **argv)
{
    static struct request q;
    signals_catch(on_signal);
    struct rp_result r = {0};
    struct rp_figures list = {0};
    struct fit_error err = {0};
    for (int k = 1; k < argc; k++)
        if (strcmp(argv[k], "-h") == 0 || strcmp(argv[k], "--help") == 0) {
            put_help(text_stream(STDOUT_FILENO), find_command(argv[1]));
            return finish(FIT_OK, &err);
        }
    if (argc < 2) {
        put_help(text_stream(STDERR_FILENO), NULL);
        return 3;
    }
    if (strcmp(argv[1], "figure") == 0)
        return finish(rp_command_figure(argc - 2, argv + 2, &err), &err);
    enum fit_status st = read_request(argc, argv, &q, &err);
    if (st == FIT_OK && q.pair)
        return finish(put_page(&(struct page){&q, NULL, &(struct rp_figures){0}, of_pair}, q.said.output, &err), &err);
    if (st == FIT_OK && (is_series(&q) || q.said.axis))
        return finish(write_series(&q, &err), &err);
    if (st == FIT_OK && rp_images_is_one(q.result))
        return finish(write_images(&q, &err), &err);
    if (st == FIT_OK)
        st = rp_result_read(q.result, &r, &err);
    if (st == FIT_OK && q.said.command && !r.fitted) {
        free(r.origin.command);
        r.origin.command = strdup(q.said.command);
    }
    if (st == FIT_OK)
        st = rp_figures_new(&r, &list, &err);
    const int files = q.plot && strcmp(q.format, "html") != 0;
    if (st == FIT_OK)
        st = (q.live ? write_live : files ? write_figures : write_page)(&q, &r, &list, &err);
    rp_figures_free(&list);
    rp_result_free(&r);
    return finish(st, &err);
}
