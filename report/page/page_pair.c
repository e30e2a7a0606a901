/* page_pair.c -- the page about two results side by side; see page.h. Takes the output of `homodyne compare` about
 * them (JSON) and both folders: verdict, descriptions, parameters with their differences, maps, g2 and curves of
 * both. */
#include "report/page/page.h"

#include "base/number_text.h"
#include "common/text.h"
#include "files/yaml_tree.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/draw/typeset.h"
#include "report/figures/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDE = 440, MOST_PLACES = 40 };

struct told {
    const struct fit_yaml *root;
    const char *const *where;
    struct rp_result r[2];
    int there[2]; /* maps and curves of it */
    struct rp_pair pair;
};

static double number_of(const struct fit_yaml *list, size_t k)
{
    return list && list->kind == FIT_YAML_LIST && k < list->n ? rp_json_value(list->entry[k].value) : NAN;
}

static const char *text_of(const struct fit_yaml *list, size_t k)
{
    return list && list->kind == FIT_YAML_LIST && k < list->n ? rp_json_text(list->entry[k].value, "") : "";
}

/* ---- head ------------------------------------------------------------------------------------ */

static void head(struct rp_markup *out, const struct told *t)
{
    const struct fit_yaml *said = rp_get(t->root, "said");
    const char *mood = rp_json_true(t->root, "agree") ? "good" : rp_json_true(t->root, "same_model") ? "bad" : "fair";
    rp_put(out, "<header>\n<h1>Two results side by side</h1>\n<p class=\"sub\"><b>A</b> %s<br/><b>B</b> %s</p>\n",
           t->where[0], t->where[1]);
    rp_put(out, "<div class=\"verdict %s\">", mood);
    for (size_t k = said ? said->n : 0; k-- > 0;) { /* the verdict first */
        const char *line = text_of(said, k), *colon = strchr(line, ':');
        const int verdict = strncmp(line, "AGREE", 5) == 0 || strncmp(line, "DIFFERENT", 9) == 0;
        rp_put(out, "<p>");
        if (verdict && colon)
            rp_put(out, "<b>%s</b>", *line == 'A' ? "AGREE" : "DIFFERENT");
        rp_sentence(out, rp_get(t->r[0].json, "parameters"), verdict && colon ? colon : line);
        rp_put(out, "</p>\n");
    }
    rp_put(out, "</div>\n");
}

static void fact_row(struct rp_markup *out, const char *name, const char *a, const char *b)
{
    if (*a || *b)
        rp_put(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>\n", name, a, b);
}

static void fact_numbers(struct rp_markup *out, const char *name, double a, double b)
{
    char text[2][48] = {"", ""};
    if (!isnan(a))
        rp_number(a, 5, text[0], sizeof text[0]);
    if (!isnan(b))
        rp_number(b, 5, text[1], sizeof text[1]);
    fact_row(out, name, text[0], text[1]);
}

static void fact_counts(struct rp_markup *out, const char *name, double a, double b)
{
    char text[2][64] = {"", ""};
    if (!isnan(a))
        rp_count(a, text[0], sizeof text[0]);
    if (!isnan(b))
        rp_count(b, text[1], sizeof text[1]);
    fact_row(out, name, text[0], text[1]);
}

static void both(struct rp_markup *out, const struct told *t, const char *name, const char *path)
{
    fact_row(out, name, rp_json_text(t->r[0].json, path), rp_json_text(t->r[1].json, path));
}

static void facts(struct rp_markup *out, const struct told *t)
{
    const struct fit_yaml *model = rp_get(t->root, "model"), *chi2 = rp_get(t->root, "reduced_chi2");
    rp_put(out,
           "<div class=\"wide\"><table data-plain=\"\"><thead><tr><th></th><th>A</th><th>B</th></tr></thead><tbody>\n");
    fact_row(out, "model", text_of(model, 0), text_of(model, 1));
    fact_row(out, "data", text_file_name(rp_json_text(t->r[0].json, "data.file")),
             text_file_name(rp_json_text(t->r[1].json, "data.file")));
    both(out, t, "quality", "quality");
    both(out, t, "loss", "settings.loss");
    fact_numbers(out, "χ²/dof", number_of(chi2, 0), number_of(chi2, 1));
    fact_counts(out, "data points", rp_json_number(t->r[0].json, "n_points"),
                 rp_json_number(t->r[1].json, "n_points"));
    fact_counts(out, "free parameters", rp_json_number(t->r[0].json, "n_free"),
                 rp_json_number(t->r[1].json, "n_free"));
    rp_put(out, "</tbody></table></div>\n</header>\n");
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void value_cell(struct rp_markup *out, const struct fit_yaml *row, size_t k)
{
    const double value = number_of(rp_get(row, "value"), k), std = number_of(rp_get(row, "std"), k);
    const char *remark = text_of(rp_get(row, "remark"), k);
    char text[48] = "–", error[48] = "", set[80];
    if (!isnan(value) && std > 0)
        fit_format_error(value, std, text, sizeof text, error, sizeof error);
    else if (!isnan(value))
        fit_format_unsure(value, NAN, NAN, text, sizeof text);
    rp_typeset(text, set, sizeof set);
    rp_put(out, "<td class=\"n\">%s%s%s%s</td>", strcmp(remark, "undetermined") == 0 ? "≈ " : "", set,
           *error                        ? " ± "
           : strcmp(remark, "held") == 0 ? " held"
                                         : "",
           error);
}

/* Parameters of two models are not compared: then nothing has a difference. */
static int compares(const struct fit_yaml *rows)
{
    int some = 0;
    for (size_t k = 0; rows && k < rows->n; k++)
        some |= !isnan(rp_json_number(rows->entry[k].value, "sigma"));
    return some;
}

static void difference_cells(struct rp_markup *out, const struct fit_yaml *row, double limit)
{
    const double z = rp_json_number(row, "sigma"),
                 by = number_of(rp_get(row, "value"), 1) - number_of(rp_get(row, "value"), 0);
    const double std = hypot(number_of(rp_get(row, "std"), 0), number_of(rp_get(row, "std"), 1));
    char text[48] = "", error[48], set[96];
    if (!isnan(z) && std > 0)
        fit_format_error(by, std, text, sizeof text, error, sizeof error);
    else if (!isnan(z))
        fit_format_unsure(by, NAN, NAN, text, sizeof text);
    rp_typeset(text, set, sizeof set);
    rp_put(out, "<td class=\"n\">%s</td>", set);
    snprintf(text, sizeof text, "%.1f", fabs(z) < 0.05 ? 0 : z);
    rp_typeset(isnan(z) ? "–" : text, set, sizeof set);
    rp_put(out, fabs(z) > limit ? "<td class=\"n bad\"><b>%s</b></td>" : "<td class=\"n\">%s</td>", set);
}

static void row_of(struct rp_markup *out, const struct fit_yaml *row, double limit, int compared)
{
    const char *unit = text_of(rp_get(row, "unit"), 0), *other = text_of(rp_get(row, "unit"), 1);
    char symbol[80];
    rp_put(out, "<tr><th scope=\"row\">");
    rp_put_named(out, rp_json_text(row, "name"));
    rp_put(out, "</th>");
    value_cell(out, row, 0);
    value_cell(out, row, 1);
    if (compared)
        difference_cells(out, row, limit);
    rp_unit(*unit ? unit : other, symbol, sizeof symbol);
    rp_put(out, "<td class=\"u\">%s</td></tr>\n", symbol);
}

static void parameters_head(struct rp_markup *out, const struct told *t, int compared)
{
    rp_put(out,
           "<section id=\"parameters\"><h2>Parameters</h2>\n<p class=\"caption\">Values with standard deviations%s.",
           strcmp(text_of(rp_get(t->root, "estimate"), 0), "posterior") == 0 ? " of the posterior" : "");
    if (compared)
        rp_put(out, " σ: the difference in standard deviations, %s.",
               rp_json_true(t->root, "same_data") ? "the larger of the two, since both are of the same data"
                                                  : "those of both added in squares");
    rp_put(out,
           "</p>\n<div class=\"wide\"><table><thead><tr><th></th><th class=\"n\">A</th><th class=\"n\">B</th>");
    if (compared)
        rp_put(out, "<th class=\"n\">B − A</th><th class=\"n\">σ</th>");
    rp_put(out, "<th>unit</th></tr></thead><tbody>\n");
}

static enum fit_status parameters(struct rp_markup *out, const struct told *t, struct fit_error *err)
{
    const struct fit_yaml *rows = rp_get(t->root, "rows");
    const double limit = rp_json_number(t->root, "limit"), height = rp_pair_sigmas_height(rows);
    enum fit_status st = FIT_OK;
    struct rp_canvas c;
    const int compared = compares(rows);
    parameters_head(out, t, compared);
    for (size_t k = 0; rows && k < rows->n; k++)
        row_of(out, rows->entry[k].value, limit, compared);
    rp_put(out, "</tbody></table></div>\n");
    if (height > 0) {
        rp_put(out, "<div class=\"figures w560\"><figure>");
        rp_svg_open(&c, out, 560, height, "Differences of the parameters in standard deviations");
        rp_pair_sigmas(&c, rows, limit);
        st = rp_svg_close(&c, err);
        rp_put(out, "</figure></div>\n");
    }
    rp_put(out, "</section>\n");
    return st;
}

/* ---- figures --------------------------------------------------------------------------------- */

typedef void draw_place(struct rp_canvas *c, const struct rp_pair *p, size_t k);

static enum fit_status figures(struct rp_markup *out, const struct rp_pair *p, double width, double height,
                               draw_place *draw, const char *alt, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    rp_put(out, "<div class=\"figures w%d\">\n", width < 600 ? 440 : 999);
    for (size_t k = 0; k < p->n && k < MOST_PLACES && st == FIT_OK; k++) {
        struct rp_canvas c;
        rp_put(out, "<figure style=\"--least:%.0fpx\">", 0.66 * width);
        rp_svg_open(&c, out, width, height, alt);
        draw(&c, p, k);
        st = rp_svg_close(&c, err);
        rp_put(out, "</figure>\n");
    }
    rp_put(out, "</div></section>\n");
    return st;
}

static enum fit_status maps(struct rp_markup *out, const struct told *t, struct fit_error *err)
{
    const struct rp_pair *p = &t->pair;
    rp_put(out, "<section id=\"maps\"><h2>Maps of the difference</h2>\n<p class=\"caption\">");
    if (!rp_pair_same_grid(p)) {
        rp_put(out,
               "The two are not on the same times (%zu and %zu points on a side, %g and %g s apart): no difference "
               "is drawn.</p></section>\n",
               p->r[0]->side, p->r[1]->side, p->r[0]->side > 1 ? p->r[0]->t[1] - p->r[0]->t[0] : NAN,
               p->r[1]->side > 1 ? p->r[1]->t[1] - p->r[1]->t[0] : NAN);
        return FIT_OK;
    }
    rp_put(out, p->same_data ? "The same data: both fits in the same colours, and B − A."
                             : "Both data in the same colours, and B − A of the data and of the fits.");
    if (p->r[0]->bin > 1)
        rp_put(out, " Every point is the mean of %zu × %zu pairs of frames.", p->r[0]->bin, p->r[0]->bin);
    rp_put(out, "</p>\n");
    return figures(out, p, rp_pair_maps_width(p), RP_PAIR_MAPS, rp_pair_maps,
                   "Maps of two results and their difference", err);
}

static int has_cuts(const struct told *t)
{
    return t->r[0].pairs && t->r[0].nlag > 1 && t->r[1].nlag > 1;
}

static enum fit_status cuts(struct rp_markup *out, const struct told *t, struct fit_error *err)
{
    const struct rp_pair *p = &t->pair;
    if (!has_cuts(t))
        return FIT_OK;
    rp_put(out,
           "<section id=\"cuts\"><h2>g₂ versus lag time</h2>\n<p class=\"caption\">Points: data, lines: fits. "
           "Ages are those of A; each result has the middle of its own ranges.</p>\n");
    return figures(out, p, 760, RP_PAIR_CUTS, rp_pair_cuts, "g2 over the lag of two results", err);
}

static enum fit_status curves(struct rp_markup *out, const struct told *t, struct fit_error *err)
{
    const struct rp_pair *p = &t->pair;
    enum fit_status st = FIT_OK;
    int some = 0;
    for (size_t k = 0; k < p->r[0]->ncurve && st == FIT_OK; k++) {
        struct rp_canvas c;
        if (rp_pair_curve_partner(p, k) < 0)
            continue;
        if (!some++)
            rp_put(
                out,
                "<section id=\"curves\"><h2>Derived quantities over time</h2>\n<p class=\"caption\">Bands: 68 %% and "
                "95 %%, or 95 %% of the posterior.</p>\n<div class=\"figures w440\">\n");
        rp_put(out, "<figure>");
        rp_svg_open(&c, out, WIDE, RP_PAIR_CURVE, p->r[0]->curve[k].name);
        rp_pair_curve(&c, p, k);
        st = rp_svg_close(&c, err);
        rp_put(out, "</figure>\n");
    }
    if (some)
        rp_put(out, "</div></section>\n");
    return st;
}

/* Both have maps or rows, some of them at the same place. */
static int side_by_side(const struct told *t)
{
    return t->there[0] && t->there[1] && t->r[0].pairs == t->r[1].pairs && t->pair.n > 0;
}

static int share_curves(const struct told *t)
{
    int some = 0;
    for (size_t k = 0; t->there[0] && t->there[1] && k < t->r[0].ncurve; k++)
        some |= rp_pair_curve_partner(&t->pair, k) >= 0;
    return some;
}

static void contents(struct rp_markup *out, const struct told *t)
{
    rp_put(out, "<nav aria-label=\"Contents\"><a href=\"#parameters\">Parameters</a>");
    if (side_by_side(t) && t->r[0].pairs)
        rp_put(out, " <a href=\"#maps\">Maps of the difference</a>");
    if (side_by_side(t) && has_cuts(t))
        rp_put(out, " <a href=\"#cuts\">g₂ versus lag time</a>");
    if (side_by_side(t) && !t->r[0].pairs)
        rp_put(out, " <a href=\"#data\">Data and fits</a>");
    if (share_curves(t))
        rp_put(out, " <a href=\"#curves\">Derived quantities over time</a>");
    rp_put(out, "</nav>\n");
}

static enum fit_status drawn(struct rp_markup *out, const struct told *t, struct fit_error *err)
{
    const struct rp_pair *p = &t->pair;
    enum fit_status st = FIT_OK;
    if (!side_by_side(t)) {
        rp_put(out, "<section><p class=\"caption\">%s</p></section>\n",
               t->there[0] && t->there[1]
                   ? "Nothing was measured at the same place in both: no maps and curves stand side by side."
                   : "One of the two has no maps and curves: it holds parameters only.");
    } else if (p->r[0]->pairs) {
        st = maps(out, t, err);
        if (st == FIT_OK)
            st = cuts(out, t, err);
    } else {
        rp_put(out,
               "<section id=\"data\"><h2>Data and fits</h2>\n<p class=\"caption\">Points: data, lines: fits.</p>\n");
        st = figures(out, p, WIDE, RP_PAIR_ROWS, rp_pair_rows, "Data and fits of two results", err);
    }
    return st == FIT_OK && t->there[0] && t->there[1] ? curves(out, t, err) : st;
}

/* A folder of ours has all; another one, or a file, parameters only. */
static enum fit_status read_one(struct told *t, size_t k, struct fit_error *err)
{
    char file[1200], folder[1024];
    snprintf(folder, sizeof folder, "%.1000s", t->where[k]);
    char *slash = strrchr(folder, '/');
    if (strcmp(text_file_name(folder), "fit.json") == 0)
        *(slash ? slash : strcpy(folder, "./") + 1) = '\0';
    snprintf(file, sizeof file, "%.1000s/fit.h5", folder);
    if (access(file, F_OK) != 0)
        return FIT_OK;
    t->there[k] = 1;
    return rp_result_read(folder, &t->r[k], err);
}

enum fit_status rp_pair_write(struct rp_markup *out, const char *const where[2], const char *told,
                              struct fit_error *err)
{
    struct fit_yaml_doc *doc = NULL;
    struct told t = {.where = where};
    t.pair = (struct rp_pair){.r = {&t.r[0], &t.r[1]}};
    enum fit_status st = fit_yaml_parse_file(told, &doc, err);
    if (st == FIT_OK)
        t.root = fit_yaml_root(doc);
    for (size_t k = 0; k < 2 && st == FIT_OK; k++)
        st = read_one(&t, k, err);
    t.pair.same_data = st == FIT_OK && rp_json_true(t.root, "same_data");
    if (st == FIT_OK && t.there[0] && t.there[1])
        st = rp_pair_match(&t.pair, err);
    if (st == FIT_OK) {
        rp_page_open(out, "homodyne compare");
        head(out, &t);
        facts(out, &t);
        contents(out, &t);
        st = parameters(out, &t, err);
    }
    if (st == FIT_OK)
        st = drawn(out, &t, err);
    if (st == FIT_OK)
        rp_page_close(out);
    free(t.pair.place);
    for (size_t k = 0; k < 2; k++)
        if (t.there[k])
            rp_result_free(&t.r[k]);
    fit_yaml_free(doc);
    return st;
}
