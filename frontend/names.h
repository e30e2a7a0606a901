/* names.h -- the commands of the Python packages under their own names: heterodyne, xj, homodyne-config, hm-nlsq,
 * hexp, ...
 *
 * They are links to this program, which finds the command from the name by which it is called. */
#ifndef HOMODYNE_NAMES_H
#define HOMODYNE_NAMES_H

#include "frontend/front.h"

/* The words of `homodyne` for a call under another name: argv[0] becomes "homodyne", words are added after it, words
 * of the packages' helpers are translated. *argc and *argv stay when the name is `homodyne` or unknown; a new *argv is
 * for the caller to free, its strings live until the end. Some names do nothing here: then *done is set, and the
 * message about the alternative has been printed. */
enum fit_status front_names(struct front *f, int *argc, char ***argv, int *done, struct fit_error *err);

#endif
