/* names.h -- the commands of the Python packages under their own names: heterodyne, xj, homodyne-config, hm-nlsq, hexp,
 * ...
 *
 * They are links to this program, which tells by the name it is called with what is meant. */
#ifndef HOMODYNE_NAMES_H
#define HOMODYNE_NAMES_H

#include "frontend/front.h"

/* The words of `homodyne` for a call under another name: argv[0] becomes "homodyne", words come behind it, words of the
 * packages' helpers become ours.  *argc and *argv stay when the name is `homodyne` or not known; what is made lives
 * until the end.  Some names do nothing here: then *done is set, and what to use has been said. */
enum fit_status front_names(struct front *f, int *argc, char ***argv, int *done, struct fit_error *err);

#endif
