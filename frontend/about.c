/* about.c -- homodyne --version --verbose: the information on program and machine that a bug report needs. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"
#include "frontend/machine/machine.h"
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "machine/topology.h"

#include <stdlib.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#ifdef __clang__
static const char COMPILER[] = __VERSION__;
#else
static const char COMPILER[] = "gcc " __VERSION__;
#endif

static const char *libc(void)
{
#ifdef __GLIBC__
    return gnu_get_libc_version();
#else
    return "not glibc";
#endif
}

/* Variables that change the behaviour of the programs. */
static void put_variables(FILE *out)
{
    static const char *const name[] = {"CC", "FIT_ISA", "HOMODYNE_GEN_LIB", "HOMODYNE_MPI", "HOMODYNE_MPI_SECONDS",
                                       "NO_COLOR", "OMP_NUM_THREADS", "OMP_PROC_BIND", "XDG_CACHE_HOME"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        if (getenv(name[k]))
            fprintf(out, "variable   %s=%s\n", name[k], getenv(name[k]));
}

void front_about(const struct front *f, int verbose)
{
    char level[16];
    struct machine m;
    struct utsname u;
    fprintf(f->out, "homodyne %s\n", FIT_VERSION);
    if (!verbose)
        return;
    machine_read(&m, "");
    front_level(level);
    const int known = uname(&u) == 0;
    fprintf(f->out, "compiler   %s\n", COMPILER);
    fprintf(f->out, "libraries  %s%s, libc %s\n", fit_h5_library_name(), fit_h5_knows_zstd() ? ", Zstandard" : "",
            libc());
    fprintf(f->out, "system     %s %s %s\n", known ? u.sysname : "not known", known ? u.release : "",
            known ? u.machine : "");
    fprintf(f->out, "processor  %s, %d cores, kernels %s\n", m.name[0] ? m.name : "not known", fit_topology_cores(),
            level[0] ? level : "base");
    fprintf(f->out, "programs   %s\n", f->dir);
    put_variables(f->out);
}
