/* find.c -- the plugin of the launcher's library.  See find.h.
 *
 * RTLD_GLOBAL: MPI libraries open components of their own, which look for the symbols of the library in the program
 * (Open MPI, "Tuning: dynamic loading"). */
#define _DEFAULT_SOURCE /* readlink */
#include "ranks/find.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FIT_LIBDIR
#define FIT_LIBDIR "lib"
#endif

void fit_ranks_cache(char folder[FIT_RANKS_PATH])
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    folder[0] = '\0';
    if (base && *base)
        snprintf(folder, FIT_RANKS_PATH, "%s/homodyne/mpi", base);
    else if (home && *home)
        snprintf(folder, FIT_RANKS_PATH, "%s/.cache/homodyne/mpi", home);
}

/* The parent of the program's folder. */
static void prefix(char folder[FIT_RANKS_PATH])
{
    const ssize_t n = readlink("/proc/self/exe", folder, FIT_RANKS_PATH - 1);
    folder[n > 0 ? n : 0] = '\0';
    for (int k = 0; k < 2; k++) {
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = '\0';
    }
}

static const struct fit_ranks_plugin *open_plugin(const char *path, struct fit_error *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const struct fit_ranks_plugin *plugin = library ? dlsym(library, "fit_ranks_plugin") : NULL;
    if (!plugin) {
        fit_fail(err, FIT_ERR_USAGE, "%s: cannot be opened as a plugin for MPI: %s", path, dlerror());
        return NULL;
    }
    if (plugin->abi == FIT_RANKS_ABI)
        return plugin;
    fit_fail(err, FIT_ERR_USAGE, "%s: made for interface %u, this program has %d; `homodyne mpi --build` makes it anew",
             path, plugin->abi, FIT_RANKS_ABI);
    return NULL;
}

/* A plugin by its word, in the folders of installation. */
static const struct fit_ranks_plugin *installed(const char *word, char path[FIT_RANKS_PATH], struct fit_error *err)
{
    static const char *const below[] = {"lib", FIT_LIBDIR};
    char top[FIT_RANKS_PATH];
    prefix(top);
    for (size_t k = 0; k < 2; k++) {
        const int n = snprintf(path, FIT_RANKS_PATH, "%s/%s/homodyne-gen/mpi/libhomodyne-mpi-%s.so", top, below[k],
                               word);
        if (n > 0 && n < FIT_RANKS_PATH && access(path, R_OK) == 0)
            return open_plugin(path, err);
    }
    return NULL;
}

static enum fit_status named(const char *wish, const struct fit_ranks_plugin **plugin, char path[FIT_RANKS_PATH],
                             struct fit_error *err)
{
    struct fit_error why = {.status = FIT_OK};
    if (strchr(wish, '/')) {
        snprintf(path, FIT_RANKS_PATH, "%s", wish);
        *plugin = open_plugin(path, &why);
    } else {
        *plugin = installed(wish, path, &why);
    }
    if (*plugin)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "HOMODYNE_MPI=%s: %s", wish,
                    why.status != FIT_OK
                        ? why.message
                        : "there is no plugin of this name; openmpi, mpich, none, or a path would be right");
}

enum fit_status fit_ranks_find(const char *starter, const struct fit_ranks_plugin **plugin, char path[FIT_RANKS_PATH],
                               struct fit_error *err)
{
    const char *wish = getenv("HOMODYNE_MPI");
    /* hydra, and srun --mpi=pmi2, speak PMI; Open MPI and srun --mpi=pmix speak PMIx */
    const int hydra = (strncmp(starter, "SLURM_", 6) == 0 && !getenv("PMIX_RANK")) ||
                      strncmp(starter, "PMI_", 4) == 0 || strncmp(starter, "MV2_", 4) == 0 ||
                      strncmp(starter, "PALS", 4) == 0;
    const char *const word[] = {hydra ? "mpich" : "openmpi", hydra ? "openmpi" : "mpich"};
    *plugin = NULL;
    if (wish && strcmp(wish, "none") == 0)
        return FIT_OK;
    if (wish && *wish)
        return named(wish, plugin, path, err);
    char folder[FIT_RANKS_PATH - 32];
    fit_ranks_cache(path);
    snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, path);
    snprintf(path, FIT_RANKS_PATH, "%s/libhomodyne-mpi.so", folder);
    if (*folder && access(path, R_OK) == 0)
        *plugin = open_plugin(path, NULL); /* made for another machine, perhaps */
    for (size_t k = 0; !*plugin && k < 2; k++)
        *plugin = installed(word[k], path, NULL);
    return FIT_OK;
}
