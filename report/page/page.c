/* page.c -- the report: order of its sections, captions, figures; see page.h.
 *
 * Colours are CSS variables, so that the figures follow the light or dark preference of the reader;
 * maps are pictures in data URIs.  No network; scripts add to what is there (page_live.c). */
#include "report/page/page.h"

#include "report/draw/panel.h"

#include <math.h>
#include <string.h>

static const double LEAST = 0.66; /* a figure that must not shrink further: its fraction of the full width */

struct section {
    const char *title, *id;
};

static const struct section sections[RP_SECTIONS] = {
    [RP_MAPS] = {"Data, fit and residuals", "maps"},
    [RP_CUTS] = {"g₂ versus lag time", "cuts"},
    [RP_ROWS] = {"Data and fit", "data"},
    [RP_CURVES] = {"Derived quantities over time", "curves"},
    [RP_SEQUENCE] = {"Fitted one by one", "sequence"},
    [RP_SCALING] = {"Values of the groups", "groups"},
    [RP_CORRELATION] = {"Parameter correlations", "correlation"},
    [RP_PROFILES] = {"Profile likelihoods", "profiles"},
    [RP_RESIDUALS] = {"Residuals", "residuals"},
    [RP_SEARCH] = {"Multistart", "search"},
    [RP_MINIMA] = {"Other minima", "minima"},
    [RP_CORNER] = {"Posterior: pairs of parameters", "corner"},
    [RP_FOREST] = {"Posterior: per-angle values", "forest"},
    [RP_PREDICTIVE] = {"Posterior predictive check", "predictive"},
    [RP_TRACES] = {"Posterior: chains", "chains"},
    [RP_ENERGY] = {"Posterior: energy", "energy"},
};

static const struct rp_figure *first_of(const struct rp_figures *list, enum rp_section s)
{
    for (size_t k = 0; k < list->n; k++)
        if (list->figure[k].section == s)
            return &list->figure[k];
    return NULL;
}

/* Class of a grid of figures that are about as wide as the first of them. */
static int columns(double width)
{
    return width < 400 ? 360 : width < 500 ? 440 : width < 620 ? 560 : 999;
}

static void caption_data(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list)
{
    rp_put(out, "Colours reach from 0.2 %% to 99.8 %% of the data and up to the ridge beside the diagonal%s. ",
           r->ngroup < 2        ? ""
           : list->shared_scale ? ", the same for all of them"
                                : ", for each its own");
    if (r->bin > 1)
        rp_put(out, "Every point is the mean of %zu × %zu pairs of frames. ", r->bin, r->bin);
    else
        rp_put(out, "The diagonal is not measured; it is drawn like what is beside it. ");
    rp_put(out, "σ: noise of single values, from differences of neighbours.");
}

static void caption_maps(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list)
{
    if (!r->fitted) {
        caption_data(out, r, list);
        return;
    }
    rp_put(out,
           "Data and fit have the colours of the bar below them, from 0.2 %% to 99.8 %% of the "
           "data and up to the ridge beside the diagonal%s; the residuals "
           "are (data − fit) / σ. ",
           r->ngroup < 2        ? ""
           : list->shared_scale ? ", the same for all of them"
                                : ", for each its own");
    if (r->bin > 1)
        rp_put(out,
               "Every point is the mean of %zu × %zu pairs of frames, and σ the standard "
               "deviation of that mean. ",
               r->bin, r->bin);
    else
        rp_put(out, "The diagonal is not measured; it is drawn like what is beside it. ");
    rp_put(out, "White noise looks like grains without pattern; stripes and patches are what the model "
                "does not "
                "describe.");
}

/* Is there a curve without a known error? */
static int lacks_band(const struct rp_result *r)
{
    for (size_t k = 0; k < r->ncurve; k++)
        if (!rp_curve_has_band(r, k))
            return 1;
    return 0;
}

static void caption_cuts(struct rp_markup *out, const struct rp_result *r)
{
    rp_put(out,
           "Means over the pairs of an age (t₁ + t₂)/2, in %zu ranges of equal length with the middle given; "
           "points: data%s%s%s",
           r->nage, r->fitted ? ", lines: fit" : "", r->g2_low ? ", bands: 95 % of the posterior" : "",
           r->fitted ? ". Below: (data − fit) / σ of the points." : ", errors from the noise of single values.");
    if (r->fitted && strcmp(rp_json_text(r->json, "settings.loss"), "linear") != 0)
        rp_put(out,
               " The fit gives outliers less weight (loss %s), these means do not: where there are some, "
               "points lie off the line by many σ.",
               rp_json_text(r->json, "settings.loss"));
}

static void caption_rows(struct rp_markup *out, const struct rp_result *r)
{
    rp_put(out, "Errors are one standard deviation%s.%s", r->fit_low ? "; band: 95 % of the posterior" : "",
           r->fitted ? " Below: (data − fit) / σ." : "");
    if (r->nrow > 1500)
        rp_put(out, " Of many values some are drawn.");
}

static void caption_curves(struct rp_markup *out, const struct rp_result *r)
{
    rp_put(out, r->ncurve && r->curve[0].low ? "Line: least squares; band: 95 %% of the posterior."
                                             : "Bands: 68 %% and 95 %%, from the errors of the fit.");
    if (lacks_band(r))
        rp_put(out, " Without a band: the data do not tell the error.");
}

static void caption_residuals(struct rp_markup *out, const struct rp_result *r)
{
    if (*rp_json_text(r->json, "residuals_text")) {
        rp_sentence(out, rp_get(r->json, "parameters"), rp_json_text(r->json, "residuals_text"));
        rp_put(out, ". ");
    }
    rp_put(out, r->pairs ? "Grey: where white noise stays with a chance of 95 %%." : "");
}

static void caption_corner(struct rp_markup *out, const struct rp_result *r)
{
    rp_put(out, "Diagonal: distributions, with the priors dashed; below: densities of the draws, with contours "
                "that hold 68 %% and 95 %% of them. Lines: least squares.");
    if (r->ndraws > RP_CORNER_MOST)
        rp_put(out, " The first %d of %zu parameters.", RP_CORNER_MOST, r->ndraws);
}

/* Captions that are the same for every result. */
static const char *const fixed_caption[RP_SECTIONS] = {
    [RP_SCALING] = "Errors are one standard deviation, the larger of the standard error and the robust one.",
    [RP_CORRELATION] = "Bold above 0.9: these parameters can hardly be told apart by these data. Left out: what is "
                       "held, at a bound or not determined.",
    [RP_PROFILES] = "Rise of χ², in units of the noise, when the parameter is held at a value and all others are "
                    "fitted anew. Dashed: the levels at which the intervals of 68 % and 95 % end; shaded: these "
                    "intervals.",
    [RP_FOREST] = "Means, one standard deviation (thick), 2.5 % to 97.5 % (thin).",
    [RP_PREDICTIVE] = "Quantities of the residuals, beside those of data drawn from the model at draws of the "
                      "posterior: beyond 2 sd the model does not make data like these.",
    [RP_SEARCH] = "Every point is one start; many at the height 1 mean that the minimum is found from many places.",
    [RP_MINIMA] = "Where the search ended besides: every point is a minimum, the large one the best. Those below the "
                  "dashed line (3.84, in units of the noise) fit as well.",
    [RP_SEQUENCE] = "Every point is a fit of its values alone (--sequence), with its standard error; pale: without "
                    "one. Dashed: the fit of all together.",
    [RP_TRACES] = "Left: draws in their order, one colour for each chain; right: ranks of the draws of each chain "
                  "among all, flat when the chains agree.",
    [RP_ENERGY] = "The two should be about as wide (E-BFMI above 0.3).",
};

/* Names of the files, if several were fitted. */
static void caption_files(struct rp_markup *out, const struct rp_result *r)
{
    char text[1000];
    rp_files_text(r, text, sizeof text);
    if (*text)
        rp_put(out, " F%s.", text + 1);
}

static void caption(struct rp_markup *out, enum rp_section s, const struct rp_result *r, const struct rp_figures *list)
{
    switch (s) {
    case RP_MAPS:
        caption_maps(out, r, list);
        caption_files(out, r);
        break;
    case RP_CUTS:
        caption_cuts(out, r);
        caption_files(out, r);
        break;
    case RP_ROWS:
        caption_rows(out, r);
        caption_files(out, r);
        break;
    case RP_CURVES:
        caption_curves(out, r);
        caption_files(out, r);
        break;
    case RP_RESIDUALS: caption_residuals(out, r); break;
    case RP_CORNER: caption_corner(out, r); break;
    default:
        if (fixed_caption[s])
            rp_put(out, "%s", fixed_caption[s]);
    }
}

static const char *title_of(enum rp_section s, const struct rp_result *r)
{
    return s == RP_SCALING && r->pairs
               ? (r->q ? "Contrast and baseline" : "Contrast and baseline versus azimuth")
           : s <= RP_ROWS && !r->fitted ? (s == RP_CUTS ? "g₂ versus lag time" : "Data")
                                        : sections[s].title;
}

static enum fit_status section(struct rp_markup *out, enum rp_section s, const struct rp_result *r,
                               const struct rp_figures *list, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (!first_of(list, s))
        return FIT_OK;
    rp_put(out, "<section id=\"%s\"><h2>%s</h2>\n<p class=\"caption\">", sections[s].id, title_of(s, r));
    caption(out, s, r, list);
    rp_put(out, "</p>\n<div class=\"figures w%d\">\n", columns(first_of(list, s)->width));
    for (size_t k = 0; k < list->n && st == FIT_OK; k++) {
        const struct rp_figure *f = &list->figure[k];
        if (f->section != s)
            continue;
        struct rp_canvas c;
        if (s == RP_MAPS)
            rp_put(out, "<figure style=\"--least:%.0fpx\" data-group=\"%zu\">", LEAST * f->width, f->index);
        else
            rp_put(out, "<figure style=\"--least:%.0fpx\">", LEAST * f->width);
        rp_svg_open(&c, out, f->width, f->height, f->alt);
        f->draw(&c, r, f);
        st = rp_svg_close(&c, err);
        rp_put(out, "</figure>\n");
    }
    rp_put(out, "</div>\n");
    if (s == RP_SCALING)
        rp_page_groups(out, r);
    rp_put(out, "</section>\n");
    return st;
}

/* Figures that stand with the table of the posterior. */
static int comes_first(enum rp_section s)
{
    return s == RP_CORNER || s == RP_FOREST;
}

/* The posterior, where there is one, before least squares. */
static enum fit_status main_parts(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                                  struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (r->fitted)
        rp_page_posterior(out, r);
    for (int s = 0; s < RP_SECTIONS && st == FIT_OK; s++)
        if (comes_first((enum rp_section)s))
            st = section(out, (enum rp_section)s, r, list, err);
    if (r->fitted)
        rp_page_parameters(out, r);
    return st;
}

static void link_to(struct rp_markup *out, const char *id, const char *title)
{
    rp_put(out, " <a href=\"#%s\">%s</a>", id, title);
}

static void contents(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list)
{
    rp_put(out, "<nav aria-label=\"Contents\">");
    if (r->fitted && rp_get(r->json, "posterior"))
        link_to(out, "posterior", "Posterior");
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < RP_SECTIONS; s++) {
            if (pass && s == RP_SEARCH && r->fitted)
                link_to(out, "convergence", "Convergence");
            if (comes_first((enum rp_section)s) != pass && first_of(list, (enum rp_section)s))
                link_to(out, sections[s].id, title_of((enum rp_section)s, r));
        }
        if (!pass && r->fitted)
            link_to(out, "parameters", r->sampled ? "Least squares" : "Parameters");
    }
    rp_put(out, " <a href=\"#origin\">Provenance</a></nav>\n");
}

void rp_page_open(struct rp_markup *out, const char *title)
{
    rp_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
           "charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>%s"
           "</title>\n<link rel=\"icon\" href=\"data:,\"/>\n<style>\n",
           title);
    rp_put_raw(out, (const char *)embedded_report_css);
    rp_put(out, "</style>\n</head>\n<body>\n");
}

void rp_page_close(struct rp_markup *out)
{
    rp_page_scripts(out);
    rp_put(out, "</body>\n</html>\n");
}

enum fit_status rp_page_write(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                              struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    char title[1200];
    snprintf(title, sizeof title, "%s: %.1000s", r->fitted ? rp_json_text(r->json, "model.name") : "data",
             r->fitted        ? rp_json_text(r->json, "data.file")
             : r->origin.file ? r->origin.file
                              : "");
    rp_page_open(out, title);
    rp_page_head(out, r);
    contents(out, r, list);
    st = main_parts(out, r, list, err);
    for (int s = 0; s < RP_SECTIONS && st == FIT_OK; s++) {
        if (s == RP_SEARCH && r->fitted)
            rp_page_search(out, r);
        if (!comes_first((enum rp_section)s))
            st = section(out, (enum rp_section)s, r, list, err);
    }
    rp_page_origin(out, r);
    if (st == FIT_OK)
        st = rp_page_live(out, r, list, err);
    rp_put(out, "</body>\n</html>\n");
    return st;
}
