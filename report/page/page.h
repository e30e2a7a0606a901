/* page.h -- the report: one HTML file that needs nothing else. */
#ifndef RP_PAGE_H
#define RP_PAGE_H

#include "report/figures/figures.h"

/* Writes the page as well-formed XHTML, readable by browsers as HTML. */
enum fit_status rp_page_write(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                              struct fit_error *err);

/* The page about the fits of `homodyne batch`, whose folder has series.h5 (page_series.c).  axis: over what they are
 * drawn (series_axis.h); NULL: over q where each has its own, else by their number. */
enum fit_status rp_series_write(struct rp_markup *out, const char *folder, const char *axis, struct fit_error *err);

/* The page about two results side by side (page_pair.c): the folders `where`, and the file that `homodyne compare`
 * wrote about them.  A result of another package has parameters only. */
enum fit_status rp_pair_write(struct rp_markup *out, const char *const where[2], const char *told,
                              struct fit_error *err);

/* What begins a page and what ends it, of pages without maps to touch. */
void rp_page_open(struct rp_markup *out, const char *title);
void rp_page_close(struct rp_markup *out);

/* Its textual parts: page_text.c. */
void rp_page_head(struct rp_markup *out, const struct rp_result *r);       /* title, verdict, main numbers */
void rp_page_parameters(struct rp_markup *out, const struct rp_result *r); /* table, ties, degeneracies, notes */
void rp_page_groups(struct rp_markup *out, const struct rp_result *r);     /* values of the groups */
void rp_page_search(struct rp_markup *out, const struct rp_result *r);     /* how the minimum was found */
void rp_page_posterior(struct rp_markup *out, const struct rp_result *r);  /* verdict and table of the posterior */
void rp_page_origin(struct rp_markup *out, const struct rp_result *r);     /* files, hashes, versions, settings */

/* Sentences: page_said.c. */
/* Of the program: signs ± and −, symbols for words that are keys of names (NULL: none), options in one piece. */
void rp_sentence(struct rp_markup *out, const struct fit_yaml *names, const char *text);
void rp_expression(struct rp_markup *out, const char *text); /* "D0 t^alpha", with symbols and powers */
void rp_put_named(struct rp_markup *out, const char *name); /* a symbol, and beside it the name that commands know */
void rp_formula(struct rp_markup *out, const char *text);               /* with signs of minus */
/* Equations in MathML that contain only elements written by the compiler; 0: the text contains something else, and
 * nothing was written (page_math.c). */
int rp_put_mathml(struct rp_markup *out, const char *text);
void rp_page_rates(struct rp_markup *out, const struct rp_result *r);   /* what the data fix of undetermined rates */
void rp_page_priors(struct rp_markup *out, const struct fit_yaml *map); /* about which of these the prior decides */

/* The data only for scripts: values of the maps, and the script itself: page_live.c. */
enum fit_status rp_page_values(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                               struct fit_error *err); /* the values alone, as JSON */
enum fit_status rp_page_live(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                             struct fit_error *err);

/* The same of a table (page_live_rows.c); whether it has rows to be moved. */
void rp_page_rows(struct rp_markup *out, const struct rp_result *r);
int rp_page_has_rows(const struct rp_result *r);

void rp_page_scripts(struct rp_markup *out); /* the scripts alone */

/* Its part about the model, where scripts can evaluate it: page_kernel.c.  bin: frames on a side of a cell. */
void rp_page_kernel(struct rp_markup *out, const struct rp_result *r, size_t bin);

extern const unsigned char embedded_report_css[], embedded_live_model_js[], embedded_live_sliders_js[],
    embedded_live_rows_js[], embedded_live_js[];

#endif
