/* config_cpu.c -- homodyne-config-cpu: the available processors, and settings for them.
 *
 * The fitters do not need it: by default they use one thread per available core. It is for users who want to know the
 * reasons, who run several programs on one machine, or whose scripts call homodyne-config-xla, heterodyne-config-xla or
 * xpcsjax-config-xla, whose names and options are accepted.
 *
 *   homodyne-config-cpu [--show]              the machine, and what a fitter would do
 *   homodyne-config-cpu --mode MODE [-o FILE] writes a file for the shell (. FILE)
 *
 * Modes: nlsq, auto (all cores); cmc, cmc-hpc (at most 4, 8 cores: one for each of 4, 8 chains).
 */
#include "frontend/machine/machine.h"
#include "machine/memory.h"
#include "machine/topology.h"

#include "common/options.h"
#include "common/stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "homodyne-config-cpu";

static FILE *out(void)
{
    return text_stream(STDOUT_FILENO);
}

struct settings {
    const char *mode;
    int show, json, help, version;
    size_t threads;
    const char *file;
    char path[1024];
    const char *root; /* of another machine than this one, or "" */
    struct fit_topology topology;
    struct machine machine;
};

static const struct mode {
    const char *name;
    int most; /* threads; 0: as many as there are cores */
    const char *what;
} modes[] = {
    {"auto", 0, "all cores"},
    {"nlsq", 0, "least squares: all cores"},
    {"cmc", 4, "posterior of 4 chains: at most 4 cores"},
    {"cmc-hpc", 8, "posterior of 8 chains (--chains 8): at most 8 cores"},
};

#define AT(kind, member) OPTION_AT(kind, struct settings, member)

static const struct option_row rows[] = {
    {"mode", 'm', "MODE", "auto, nlsq: all cores; cmc, cmc-hpc: at most 4, 8, one for each chain", 0, AT(TEXT, mode)},
    {"output", 'o', "FILE", "default: homodyne/cpu.sh in etc of the virtual environment, or ~/.config", 0,
     AT(TEXT, file)},
    {"threads", 0, "N", "so many threads, whatever the mode", 0, OPTION_COUNT, offsetof(struct settings, threads), 1},
    {"show", 0, NULL, "show only", 0, AT(FLAG, show)},
    {"info", 0, NULL, "the same", 0, AT(FLAG, show)},
    {"json", 0, NULL, "as JSON", 0, AT(FLAG, json)},
    {"root", 0, "DIR", "of another machine, whose /sys and /proc/cpuinfo were copied to DIR", 0, AT(TEXT, root)},
    {"help", 'h', NULL, "this text", 0, AT(FLAG, help)},
    {"version", 0, NULL, "the version", 0, AT(FLAG, version)},
    {"no-x64", 0, NULL, NULL, 0, OPTION_KEPT}, /* of the Python packages */
    {"debug", 0, NULL, NULL, 0, OPTION_KEPT},
    {"verbose", 'v', NULL, NULL, 0, OPTION_KEPT},
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static void put_help(void)
{
    fputs("homodyne-config-cpu [--show] [--json]\n"
          "homodyne-config-cpu --mode auto|nlsq|cmc|cmc-hpc [-o FILE] [--threads N]\n"
          "\n"
          "Shows processors, limits and caches, and how many threads a fitter takes by itself; or writes a\n"
          "file for the shell that sets OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES and OPENBLAS_NUM_THREADS:\n"
          "\n",
          out());
    options_put(out(), &table);
    fputs("\nAlso called homodyne-config-xla, heterodyne-config-xla, xpcsjax-config-xla, ht-config-xla,\n"
          "xj-config-xla, hxla.\n",
          out());
}

/* ---- the command line ------------------------------------------------------------------------ */

static int usage(const char *what, const char *word)
{
    fprintf(text_stream(STDERR_FILENO), "homodyne-config-cpu: %s '%s' (--help)\n", what, word);
    return 3;
}

static const struct mode *find_mode(const char *name)
{
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (strcmp(modes[k].name, name) == 0)
            return &modes[k];
    return NULL;
}

static int parse(int argc, char **argv, struct settings *s)
{
    const struct option_set set = {.table = {table}, .help = "homodyne-config-cpu --help"};
    struct command_line line;
    char message[400];
    int code = 0;
    const int good = options_read(&set, argc, argv, 1, &line, message, sizeof message) == OPTIONS_GOOD &&
                     options_store(s, &line, message, sizeof message);
    if (!good) {
        fprintf(text_stream(STDERR_FILENO), "homodyne-config-cpu: %s\n", message);
        code = 3;
    } else if (line.nword)
        code = usage("what is", line.word[0]);
    else if (s->mode && !find_mode(s->mode))
        code = usage("auto, nlsq, cmc and cmc-hpc are the modes, not", s->mode);
    options_free(&line);
    return code;
}

/* ---- recommended settings -------------------------------------------------------------------- */

static int threads_of(const struct settings *s)
{
    const struct mode *m = find_mode(s->mode ? s->mode : "auto");
    int n = fit_topology_usable(&s->topology);
    if (s->threads)
        return (int)s->threads;
    return m->most && m->most < n ? m->most : n;
}

/* The node on which `threads` of the cores fit, or -1. */
static int roomy_node(const struct fit_topology *t, int threads)
{
    for (int a = 0; a < t->logical; a++) {
        int cores = 0;
        for (int b = 0; b < t->logical; b++)
            cores += t->cpu[b].node == t->cpu[a].node && t->cpu[b].core == t->cpu[b].cpu;
        if (cores >= threads)
            return t->cpu[a].node;
    }
    return -1;
}

static void advise(const struct settings *s, FILE *f, const char *mark)
{
    const struct fit_topology *t = &s->topology;
    int threads = threads_of(s), node = roomy_node(t, threads);
    if (t->nodes < 2)
        fprintf(f, "%sone NUMA node: nothing to gain from numactl\n", mark);
    else if (node >= 0)
        fprintf(f, "%s%d threads find room on one NUMA node: numactl --cpunodebind=%d --membind=%d homodyne ...\n",
                mark, threads, node, node);
    else
        fprintf(f, "%sthreads on several NUMA nodes: each meets the data that it put there itself, so leave memory to "
                "the fitter (no --interleave); several fits at a time: one per node with numactl --cpunodebind\n",
                mark);
}

static const char *binding(const struct settings *s)
{
    return s->topology.nodes > 1 && roomy_node(&s->topology, threads_of(s)) < 0 ? "spread" : "close";
}

/* ---- showing --------------------------------------------------------------------------------- */

static int threads_by_itself(const struct settings *s)
{
    return *s->root ? fit_topology_usable(&s->topology) : fit_topology_threads();
}

static void tell_threads(const struct settings *s)
{
    const struct fit_topology *t = &s->topology;
    const char *wish = *s->root ? NULL : getenv("OMP_NUM_THREADS");
    fprintf(out(), "a fitter takes     %d thread%s by itself: ", threads_by_itself(s),
            threads_by_itself(s) > 1 ? "s" : "");
    if (wish && atoi(wish) > 0)
        fprintf(out(), "OMP_NUM_THREADS says so\n");
    else if (t->quota > 0 && fit_topology_usable(t) < t->cores)
        fprintf(out(), "the control group grants %.3g processors\n", t->quota);
    else if (t->cores < t->logical)
        fprintf(out(), "one per core; two on one core share its arithmetic units\n");
    else
        fprintf(out(), "one per core\n");
}

static void show(const struct settings *s)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OPENBLAS_NUM_THREADS",
                                        "XLA_FLAGS"};
    const struct fit_topology *t = &s->topology;
    const struct machine *m = &s->machine;
    fprintf(out(), "processor          %s\n", m->name[0] ? m->name : "unknown");
    fprintf(out(), "cores              %d that may be used, %d logical processors of %d; %d socket%s\n", t->cores,
            t->logical, t->online, m->packages, m->packages > 1 ? "s" : "");
    if (t->quota > 0)
        fprintf(out(), "control group      %.3g processors (%s)\n", t->quota, t->quota_from);
    else
        fprintf(out(), "control group      no limit of processors\n");
    for (int k = 0; k < m->ncache; k++)
        fprintf(out(), "cache L%d           %.0f KiB, shared by %d\n", m->cache[k].level, m->cache[k].bytes / 1024,
                m->cache[k].sharing);
    for (int k = 0; k < m->nnode; k++)
        fprintf(out(), "NUMA node %-2d       processors %s, %.0f MB\n", m->node[k].number, m->node[k].cpus,
                m->node[k].memory_mb);
    if (!*s->root)
        fprintf(out(), "memory             %.0f MB available\n", fit_memory_available_mb());
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (getenv(names[k]))
            fprintf(out(), "environment        %s=%s%s\n", names[k], getenv(names[k]),
                    k == 4 ? " (no effect on the fitters)" : "");
    tell_threads(s);
    advise(s, out(), "");
}

static void show_json(const struct settings *s)
{
    const struct fit_topology *t = &s->topology;
    const struct machine *m = &s->machine;
    fprintf(out(),
            "{\"cores\": %d, \"logical\": %d, \"online\": %d, \"packages\": %d, \"nodes\": %d, \"quota\": ", t->cores,
            t->logical, t->online, m->packages, t->nodes);
    fprintf(out(), t->quota > 0 ? "%.6g" : "null", t->quota);
    fprintf(out(), ", \"threads\": %d, \"default_threads\": %d, \"caches\": [", threads_of(s), threads_by_itself(s));
    for (int k = 0; k < m->ncache; k++)
        fprintf(out(), "%s{\"level\": %d, \"bytes\": %.0f, \"shared_by\": %d}", k ? ", " : "", m->cache[k].level,
                m->cache[k].bytes, m->cache[k].sharing);
    fprintf(out(), "], \"numa\": [");
    for (int k = 0; k < m->nnode; k++)
        fprintf(out(), "%s{\"node\": %d, \"cpus\": \"%s\", \"memory_mb\": %.0f}", k ? ", " : "", m->node[k].number,
                m->node[k].cpus, m->node[k].memory_mb);
    fprintf(out(), "]}\n");
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Makes the folders above the file. */
static void make_folders(char *path)
{
    for (char *c = strchr(path + 1, '/'); c; c = strchr(c + 1, '/')) {
        *c = '\0';
        mkdir(path, 0777);
        *c = '/';
    }
}

static void choose_path(struct settings *s)
{
    const char *env = getenv("VIRTUAL_ENV") ? getenv("VIRTUAL_ENV") : getenv("CONDA_PREFIX"),
               *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (s->file)
        snprintf(s->path, sizeof s->path, "%s", s->file);
    else if (env)
        snprintf(s->path, sizeof s->path, "%s/etc/homodyne/cpu.sh", env);
    else if (config)
        snprintf(s->path, sizeof s->path, "%s/homodyne/cpu.sh", config);
    else
        snprintf(s->path, sizeof s->path, "%s/.config/homodyne/cpu.sh", home ? home : ".");
}

static int write_settings(struct settings *s)
{
    choose_path(s);
    make_folders(s->path);
    FILE *f = fopen(s->path, "w");
    if (!f) {
        fprintf(text_stream(STDERR_FILENO), "homodyne-config-cpu: %s: %s\n", s->path, strerror(errno));
        return 4;
    }
    fprintf(f, "# Made by homodyne-config-cpu --mode %s; %s.  Use:  . %s\n", s->mode, find_mode(s->mode)->what,
            s->path);
    fprintf(f, "export OMP_NUM_THREADS=%d\n", threads_of(s));
    fprintf(f, "export OMP_PROC_BIND=%s\n", binding(s));
    fprintf(f, "export OMP_PLACES=cores\n");
    fprintf(f, "export OPENBLAS_NUM_THREADS=1\n");
    advise(s, f, "# ");
    if (fclose(f) != 0) {
        fprintf(text_stream(STDERR_FILENO), "homodyne-config-cpu: %s: %s\n", s->path, strerror(errno));
        return 4;
    }
    f = fopen(s->path, "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        fputc(c, out());
    if (f)
        fclose(f);
    fprintf(out(), "-> %s\n", s->path);
    return 0;
}

int main(int argc, char **argv)
{
    static struct settings s = {.root = ""};
    const int bad = parse(argc, argv, &s);
    if (bad)
        return bad;
    if (s.help)
        put_help();
    else if (s.version)
        fprintf(out(), "homodyne-config-cpu %s\n", FIT_VERSION);
    if (s.help || s.version)
        return text_stream_finish(NAME, 0);
    if (!*s.root)
        fit_topology_read(&s.topology);
    else if (!fit_topology_read_copy(&s.topology, s.root))
        return usage("--root: no processors in /sys/devices/system/cpu/online below", s.root);
    machine_read(&s.machine, s.root);
    if (s.mode && !s.show && !s.json)
        return text_stream_finish(NAME, write_settings(&s));
    (s.json ? show_json : show)(&s);
    return text_stream_finish(NAME, 0);
}
