/* figures.h -- the list of figures that a result has, and how to draw them.
 *
 * The page and the files of `homodyne plot` are made from the same list. */
#ifndef RP_FIGURES_H
#define RP_FIGURES_H

#include "report/draw/canvas.h"
#include "report/figures/load.h"

enum { RP_CORNER_MOST = 16 }; /* parameters in one figure of pairs */

enum rp_section {
    RP_MAPS,
    RP_CUTS,
    RP_ROWS,
    RP_CURVES,
    RP_SEQUENCE,
    RP_SCALING,
    RP_CORRELATION,
    RP_PROFILES,
    RP_RESIDUALS,
    RP_SEARCH,
    RP_MINIMA,
    RP_CORNER,
    RP_FOREST,
    RP_PREDICTIVE,
    RP_TRACES,
    RP_ENERGY,
    RP_SECTIONS
};

struct rp_figure {
    char name[64]; /* of its file, without ending */
    char alt[192]; /* what it shows */
    enum rp_section section;
    double width, height;
    size_t index;    /* group, curve or parameter */
    double range[3]; /* maps: lowest, highest value; limit of residuals */
    void (*draw)(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f);
};

struct rp_figures {
    size_t n;
    struct rp_figure *figure;
    int shared_scale; /* maps of all groups have the same range */
    int failed;
};

/* Figures without anything to show are not in the list. */
enum fit_status rp_figures_new(const struct rp_result *r, struct rp_figures *list,
                               struct fit_error *err);
void rp_figures_free(struct rp_figures *list);

/* For the parts: a new figure at the end of the list, or NULL. */
struct rp_figure *rp_figure_add(struct rp_figures *list, enum rp_section section, const char *name,
                                double width, double height);

void rp_list_maps(const struct rp_result *r, struct rp_figures *list);
void rp_list_cuts(const struct rp_result *r, struct rp_figures *list);
void rp_list_rows(const struct rp_result *r, struct rp_figures *list);
void rp_list_curves(const struct rp_result *r, struct rp_figures *list);
void rp_list_parameters(const struct rp_result *r,
                        struct rp_figures *list); /* scaling, correlation */
void rp_list_profiles(const struct rp_result *r, struct rp_figures *list);
void rp_list_residuals(const struct rp_result *r, struct rp_figures *list);
void rp_list_search(const struct rp_result *r, struct rp_figures *list);
void rp_list_sequence(const struct rp_result *r, struct rp_figures *list);
void rp_list_minima(const struct rp_result *r, struct rp_figures *list);
void rp_list_posterior(const struct rp_result *r, struct rp_figures *list);

/* Is an error of curve k known at any point? */
int rp_curve_has_band(const struct rp_result *r, size_t k);

/* "φ = −45°"; for a table "q = 0.005 1/Å". */
void rp_group_title(const struct rp_result *r, size_t group, char *text, size_t size);
/* "file 1: a.h5 (q = 0.004 Å⁻¹), file 2: ..." of a fit of several files; else "". */
void rp_files_text(const struct rp_result *r, char *text, size_t size);
/* For several files: the shortest text that distinguishes `group` among n groups: "q = 0.008 Å⁻¹", "φ = 5°, file 2". */
void rp_group_among(const struct rp_result *r, const size_t *groups, size_t n, size_t group, char *text, size_t size);
/* The same in words, for screen readers. */
void rp_group_place(const struct rp_result *r, size_t group, char *text, size_t size);

/* Value below which a fraction (0..1) of n numbers lies; NaN are ignored. Of many numbers every k-th is taken. */
double rp_quantile(const double *x, size_t n, double part);

#endif
