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

/* The words of dlerror(), which begin with the path. */
static const char *without_path(const char *words, const char *path)
{
    const size_t n = strlen(path);
    return strncmp(words, path, n) == 0 && strncmp(words + n, ": ", 2) == 0 ? words + n + 2 : words;
}

/* The library at `path`, with its plugin; NULL: it has none that fits. */
static void *look(const char *path, const struct fit_ranks_plugin **plugin, struct fit_error *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct fit_ranks_plugin *it = library ? dlsym(library, "fit_ranks_plugin") : NULL;
    *plugin = it;
    if (!it)
        fit_fail(err, FIT_ERR_USAGE,
                 library ? "%s: is no plugin for MPI, which has fit_ranks_plugin; `homodyne mpi --build` makes one"
                         : "%s: cannot be opened as a plugin for MPI: %s; `homodyne mpi --build` makes one",
                 path, library ? "" : without_path(dlerror(), path));
    else if (it->abi != FIT_RANKS_ABI)
        fit_fail(err, FIT_ERR_USAGE,
                 "%s: made for interface %u, this program has %d; `homodyne mpi --build` makes it anew", path, it->abi,
                 FIT_RANKS_ABI);
    if (it && it->abi == FIT_RANKS_ABI)
        return library;
    if (library)
        dlclose(library);
    *plugin = NULL;
    return NULL;
}

/* What is opened in vain must not stay: its MPI would answer the calls of the next plugin. */
static const struct fit_ranks_plugin *open_plugin(const char *path, struct fit_error *err)
{
    const struct fit_ranks_plugin *plugin;
    void *library = look(path, &plugin, err);
    if (library && !dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
        fit_fail(err, FIT_ERR_USAGE, "%s: cannot be opened as a plugin for MPI: %s", path, dlerror());
    return plugin;
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

static int is_word(const char *wish)
{
    return strcmp(wish, "openmpi") == 0 || strcmp(wish, "mpich") == 0;
}

static enum fit_status named(const char *wish, const struct fit_ranks_plugin **plugin, char path[FIT_RANKS_PATH],
                             struct fit_error *err)
{
    const int is_path = strchr(wish, '/') != NULL;
    struct fit_error why = {.status = FIT_OK};
    if (is_path)
        snprintf(path, FIT_RANKS_PATH, "%s", wish);
    *plugin = is_path ? open_plugin(path, &why) : installed(wish, path, &why);
    if (*plugin)
        return FIT_OK;
    if (why.status != FIT_OK)
        return fit_fail(err, FIT_ERR_USAGE, "HOMODYNE_MPI=%s%s%s", is_path ? "" : wish, is_path ? "" : ": ",
                        why.message);
    if (is_word(wish))
        return fit_fail(err, FIT_ERR_USAGE,
                        "HOMODYNE_MPI=%s: this installation has no plugin of this name; `homodyne mpi --build` makes"
                        " one for the MPI of this machine, which is used where HOMODYNE_MPI is not set", wish);
    return fit_fail(err, FIT_ERR_USAGE,
                    "HOMODYNE_MPI=%s: there is no plugin of this name; openmpi, mpich, none, or the path of a plugin,"
                    " with a '/', would be right", wish);
}

int fit_ranks_unwanted(void)
{
    const char *wish = getenv("HOMODYNE_MPI");
    return wish && strcmp(wish, "none") == 0;
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
    if (fit_ranks_unwanted())
        return FIT_OK;
    if (wish && *wish)
        return named(wish, plugin, path, err);
    char folder[FIT_RANKS_PATH - 32];
    struct fit_error why = {.status = FIT_OK};
    fit_ranks_cache(path);
    snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, path);
    snprintf(path, FIT_RANKS_PATH, "%s/libhomodyne-mpi.so", folder);
    if (*folder && access(path, R_OK) == 0)
        *plugin = open_plugin(path, &why); /* made for another machine or version, perhaps */
    for (size_t k = 0; !*plugin && k < 2; k++)
        *plugin = installed(word[k], path, NULL);
    return *plugin || why.status == FIT_OK ? FIT_OK : fit_fail(err, why.status, "%s", why.message);
}
