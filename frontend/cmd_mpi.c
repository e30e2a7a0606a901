/* cmd_mpi.c -- `mpi`: shows which plugin for MPI would be used, and makes one for the MPI of this site.
 *
 * The program contains the two source files of the plugin (ranks/mpi_plugin.c, ranks/plugin.h). The compiler wrapper
 * of the MPI (--mpicc, MPICC, or the first mpicc in PATH) compiles them into the cache of the user, where fitters
 * look first (ranks/find.h). */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include "base/output.h"
#include "base/paths.h"
#include "ranks/copies.h"
#include "ranks/find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const unsigned char embedded_mpi_plugin_c[], embedded_plugin_h[];
extern const size_t embedded_mpi_plugin_c_size, embedded_plugin_h_size;

enum { PATH = FRONT_PATH + 64 };

static enum fit_status write_source(const char *folder, const char *name, const unsigned char *text, size_t size,
                                    struct fit_error *err)
{
    char path[PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fit_output_write(path, (const char *)text, size, err);
}

static enum fit_status compile(const char *mpicc, const char *folder, const char *object, struct fit_error *err)
{
    char include[PATH + 8], source[PATH + 64];
    char *text = NULL;
    int code = 1;
    snprintf(include, sizeof include, "-I%s", folder);
    snprintf(source, sizeof source, "%s/ranks/mpi_plugin.c", folder);
    char *const word[] = {front_word(mpicc),   front_word("-std=c11"), front_word("-O2"), front_word("-fPIC"),
                          front_word("-shared"), front_word(include),    front_word(source), front_word("-o"),
                          front_word(object),    NULL};
    enum fit_status st = front_capture(mpicc, word, &text, &code, err);
    free(text);
    if (st == FIT_OK && code != 0)
        st = fit_fail(err, FIT_ERR_CONFIG,
                      "mpi --build: '%s' failed; it has to be the compiler wrapper of the MPI with which jobs are"
                      " started (often after `module load`): --mpicc FILE, or MPICC", mpicc);
    return st;
}

static enum fit_status build(struct front *f, const char *mpicc, int quiet, struct fit_error *err)
{
    char folder[FIT_RANKS_PATH], sources[PATH], rooms[PATH + 16], made[PATH], final[PATH];
    unsigned new_folders;
    fit_ranks_cache(folder);
    if (!folder[0])
        return fit_fail(err, FIT_ERR_CONFIG, "mpi --build: neither XDG_CACHE_HOME nor HOME is set: no place for it");
    snprintf(sources, sizeof sources, "%s/source", folder);
    snprintf(rooms, sizeof rooms, "%s/ranks", sources);
    snprintf(made, sizeof made, "%s/making-%ld.so", folder, (long)getpid());
    snprintf(final, sizeof final, "%s/libhomodyne-mpi.so", folder);
    enum fit_status st = fit_output_folder(rooms, &new_folders, err);
    if (st == FIT_OK)
        st = write_source(rooms, "mpi_plugin.c", embedded_mpi_plugin_c, embedded_mpi_plugin_c_size, err);
    if (st == FIT_OK)
        st = write_source(rooms, "plugin.h", embedded_plugin_h, embedded_plugin_h_size, err);
    if (st == FIT_OK)
        st = compile(mpicc, sources, made, err);
    if (st == FIT_OK && rename(made, final) != 0)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written", final);
    if (st != FIT_OK)
        unlink(made);
    else if (!quiet)
        fprintf(f->out, "%s, made by %s\n", final, mpicc);
    return st;
}

enum fit_status front_cmd_mpi(struct front *f, const struct front_args *a, struct fit_error *err)
{
    const struct fit_ranks_plugin *plugin;
    const char *given = option_value(&a->own, "mpicc"), *variable = getenv("MPICC");
    const char *mpicc = given ? given : variable && *variable ? variable : "mpicc";
    const int off = fit_ranks_unwanted();
    const char *told;
    char path[FIT_RANKS_PATH];
    long rank;
    if (a->nrest)
        return fit_fail(err, FIT_ERR_USAGE, "mpi: '%s' is not expected; `homodyne mpi --build` is", a->rest[0]);
    if (option_given(&a->own, "build"))
        return build(f, mpicc, a->quiet, err);
    const int started = fit_copies(&rank, &told) > 1; /* else that of Open MPI first */
    enum fit_status st = fit_ranks_find(started ? told : "PMIX_RANK", &plugin, path, err);
    if (st == FIT_OK && !a->quiet)
        fprintf(f->out, plugin ? "%s\n" : off ? "HOMODYNE_MPI=none: MPI is not used\n"
                                             : "there is no plugin for MPI; `homodyne mpi --build` makes one\n", path);
    return st;
}
