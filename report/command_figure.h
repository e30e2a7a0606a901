/* command_figure.h -- `homodyne figure`: one composed figure as PDF, SVG, PNG. */
#ifndef RP_COMMAND_FIGURE_H
#define RP_COMMAND_FIGURE_H

#include "base/status.h"
#include "common/options.h"

/* The words behind "figure". */
enum fit_status rp_command_figure(int argc, char **argv, struct fit_error *err);

extern const struct option_table rp_figure_options;

#endif
