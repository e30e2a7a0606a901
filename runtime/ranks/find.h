/* find.h -- finds and opens the plugin for the launcher's library (plugin.h).
 *
 * HOMODYNE_MPI names a file, or a word: `openmpi`, `mpich` for libhomodyne-mpi-WORD.so, or `none`. Without it, in
 * this order: the result of `homodyne mpi --build` (the cache of the user), then installed plugins, that of the MPI
 * which has started the program first. */
#pragma once

#include "base/status.h"
#include "ranks/plugin.h"

#define FIT_RANKS_PATH 4096

/* ~/.cache/homodyne/mpi or below XDG_CACHE_HOME; "" when neither is known. */
void fit_ranks_cache(char folder[FIT_RANKS_PATH]);

/* starter: the variable by which the launcher gave the number of copies. *plugin: NULL when there is none (FIT_OK).
 * FIT_ERR_USAGE: HOMODYNE_MPI names a plugin that is missing or cannot be opened, or the only one is that of the cache,
 * which cannot be opened; the message has the reason. */
enum fit_status fit_ranks_find(const char *starter, const struct fit_ranks_plugin **plugin, char path[FIT_RANKS_PATH],
                               struct fit_error *err);

/* HOMODYNE_MPI=none. */
int fit_ranks_unwanted(void);
