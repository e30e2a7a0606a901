/* programs.h -- the options of commands that other programs carry out: `homodyne` shows them and passes them on,
 * homodyne-report (plot, report, figure) and homodyne-view (view) read them. */
#ifndef HOMODYNE_PROGRAMS_H
#define HOMODYNE_PROGRAMS_H

#include "common/options.h"

struct front_drawing { /* plot, report */
    const char *output, *format, *threshold;
    const char *axis;    /* of a batch; NULL: its own choice */
    const char *command; /* the command of the user who asked for data, or NULL */
    const char *told;    /* compare: the file with what it says */
    int json, quiet;
};

struct front_figure {
    const char *panels, *format, *font, *style, *phi, *output;
    size_t columns;
    double dpi, age;
    int json, quiet;
};

struct front_view {
    const char *folder, *model, *gap;
    const char *history; /* of `watch`, or NULL */
    size_t port;         /* 0: any that is free */
    int quiet;
};

#define FRONT_DRAWING(kind, member) OPTION_AT(kind, struct front_drawing, member)
#define FRONT_FIGURE(kind, member) OPTION_AT(kind, struct front_figure, member)

#define FRONT_VIEW(kind, member) OPTION_AT(kind, struct front_view, member)

// clang-format off
#define FRONT_PLOT_ROWS                                                                                                \
    {"output", 'o', "FOLDER", "default: RESULT/figures; of data ./NAME_figures", 0, FRONT_DRAWING(TEXT, output)},      \
    {"output-dir", 0, "FOLDER", NULL, 0, FRONT_DRAWING(TEXT, output)},                                                 \
    {"format", 'f', "FORMAT", "svg (default), png, pdf; html: all in one page", 0, FRONT_DRAWING(TEXT, format)},       \
    {"json", 0, NULL, "the files that were written, as JSON", OPTION_RARE, FRONT_DRAWING(FLAG, json)},                 \
    {"quiet", 'q', NULL, "print nothing but errors", 0, FRONT_DRAWING(FLAG, quiet)}

#define FRONT_REPORT_ROWS                                                                                              \
    {"output", 'o', "FILE", "default: RESULT/report.html; of data ./NAME_data.html", 0, FRONT_DRAWING(TEXT, output)},  \
    {"output-dir", 0, "FILE", NULL, 0, FRONT_DRAWING(TEXT, output)},                                                   \
    {"axis", 0, "NAME[:UNIT]",                                                                                         \
     "of a batch: over q, time, fit, a parameter, T of files named T300; T=TABLE.csv", 0, FRONT_DRAWING(TEXT, axis)},  \
    {"threshold", 0, "TERM=C,..", "of a survey of images: largest reduced chi2 of its Top Set (2)", 0,                 \
     FRONT_DRAWING(TEXT, threshold)},                                                                                  \
    {"json", 0, NULL, "the file that was written, as JSON", OPTION_RARE, FRONT_DRAWING(FLAG, json)},                   \
    {"quiet", 'q', NULL, "print nothing but errors", 0, FRONT_DRAWING(FLAG, quiet)}

#define FRONT_FIGURE_ROWS                                                                                              \
    {"columns", 0, "1|2", "width of one column of the journal, or of two; default 2", 0,                               \
     OPTION_COUNT, offsetof(struct front_figure, columns), 1},                                                         \
    {"panels", 0, "LIST",                                                                                              \
     "maps, residuals, g2, D, shear, velocity, fraction, data, or a curve; default: what there is", 0,                 \
     FRONT_FIGURE(TEXT, panels)},                                                                                      \
    {"format", 'f', "LIST", "pdf (default), svg, png", 0, FRONT_FIGURE(TEXT, format)},                                 \
    {"dpi", 0, "N", "of png; default 600", 0, FRONT_FIGURE(REAL, dpi)},                                                \
    {"font", 0, "FAMILY[,PT]", "default: sans-serif, 7.5 points", 0, FRONT_FIGURE(TEXT, font)},                        \
    {"style", 0, "STYLE", "plain (default), pnas, aps, nature: letters, widths and font of a journal", 0,              \
     FRONT_FIGURE(TEXT, style)},                                                                                       \
    {"phi", 0, "A,B,..", "azimuths, deg; default: spread over all", 0, FRONT_FIGURE(TEXT, phi)},                       \
    {"age", 0, "S", "of g2: the nearest of the result's", 0, FRONT_FIGURE(REAL, age)},                                 \
    {"output", 'o', "PATH", "of the files, without ending; default RESULT/figures/figure", 0,                          \
     FRONT_FIGURE(TEXT, output)},                                                                                      \
    {"json", 0, NULL, "files, size and caption as JSON", OPTION_RARE, FRONT_FIGURE(FLAG, json)},                       \
    {"quiet", 'q', NULL, "nothing but errors", 0, FRONT_FIGURE(FLAG, quiet)}

#define FRONT_VIEW_ROWS                                                                                                \
    {"output-dir", 'o', "DIR", "folder of fits and configurations that are made here; default ./view", 0,              \
     FRONT_VIEW(TEXT, folder)},                                                                                        \
    {"port", 0, "N", "of 127.0.0.1; default: any that is free", 0,                                                     \
     OPTION_COUNT, offsetof(struct front_view, port), 1},                                                              \
    {"gap", 0, "A", "of a data file named alone: stator-rotor gap", 0, FRONT_VIEW(TEXT, gap)},                         \
    {"model", 0, "NAME", "of a data file named alone; default static_isotropic", 0, FRONT_VIEW(TEXT, model)},          \
    {"quiet", 'q', NULL, "print nothing but the address and errors", 0, FRONT_VIEW(FLAG, quiet)}
// clang-format on

#endif
