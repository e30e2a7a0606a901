/* cli.c -- parsing of the command line by a table.
 *
 * A row of the table says how an option is spelled, what argument it takes, for which commands,
 * where its value goes and one line of help.  Rows with the same name may exist for different
 * commands (--frames is a number for `eval` and a range for `fit`).  Rows without help text are
 * accepted but not shown.
 */
#include "cli.h"

#include "nearest.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    FLAG,   /* int member becomes 1 */
    LEVEL,  /* int member counts up */
    TEXT,   /* const char * member */
    REAL,   /* double member */
    COUNT,  /* uint64_t member, not negative */
    REALS,  /* size_t member followed by its array in `aux`: numbers, split by commas or as words */
    CHANGE, /* one value, to fit_config_override */
    CHANGES, /* numbers in one or more words, joined by commas, to fit_config_override */
    SWITCH,  /* no value, to fit_config_override */
    IGNORE,  /* one value, no effect */
    IGNORE_FLAG
};

#define BIT(c) (1u << FIT_COMMAND_##c)
#define ALL 0xffffu
#define RUNS (BIT(FIT) | BIT(CHECK) | BIT(ESTIMATE) | BIT(PLAN))
#define MODEL (BIT(EVAL) | BIT(SIMULATE))
#define FILES (BIT(INSPECT) | BIT(INIT))
#define PAIRS 0x10000u /* --help only: of two-time models */
#define TABLE 0x20000u /* --help only: of models of tables */
#define RARE 0x40000u  /* in --help-all and the manual only */
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define AT(member) offsetof(struct fit_cli, member)

struct option {
    const char *name;
    char letter;
    enum kind kind;
    unsigned commands;
    size_t at, aux; /* offsets into struct fit_cli */
    const char *argument, *help;
};

static const struct option options[] = {
    {"help", 'h', FLAG, ALL | RARE, AT(help), 0, NULL, "the options most used"},
    {"help-all", 0, FLAG, ALL | RARE, AT(help_all), 0, NULL, "all options"},
    {"version", 0, FLAG, ALL | RARE, AT(version), 0, NULL, "program, model and kernels"},
    {"output", 'o', TEXT, MODEL, AT(output), 0, "FILE", "where the result is written"},
    {"output-dir", 0, TEXT, RUNS, AT(output), 0, "DIR",
     "folder of the results; default ./<model>_results"},
    {"output", 'o', TEXT, RUNS, AT(output), 0, NULL, NULL},
    {"config", 'c', TEXT, RUNS | RARE, AT(config), 0, "FILE",
     "configuration; the same as the plain argument"},
    {"frames", 0, COUNT, MODEL | PAIRS, AT(frames), 0, "N", "number of frames"},
    {"frames", 0, COUNT, BIT(BENCH), AT(frames), 0, "N", "number of frames, or of rows"},
    {"dt", 0, REAL, MODEL | PAIRS, AT(dt), 0, "S", "frame period, s"},
    {"q", 0, REAL, MODEL | PAIRS, AT(q), 0, "Q", "wavevector, 1/angstrom"},
    {"gap", 0, REAL, MODEL | PAIRS, AT(gap), 0, "A", "stator-rotor gap, angstrom"},
    {"phi", 0, REALS, MODEL | PAIRS, AT(nphi), AT(phi), "D1,D2,..", "azimuths, degrees"},
    {"phi-angles", 0, REALS, MODEL, AT(nphi), AT(phi), NULL, NULL},
    {"x", 0, TEXT, MODEL | TABLE, AT(x), 0, "LO:HI:N[:log]", "grid of the first column"},
    {"groups", 0, REALS, MODEL | TABLE, AT(ngroups), AT(groups), "V1,V2,..",
     "models with an axis: its values, one curve each"},
    {"set", 0, CHANGE, MODEL, 0, 0, "NAME=VALUE",
     "parameter or setting; repeat; else the model's start"},
    {"set", 0, CHANGE, MODEL | TABLE, 0, 0, "NAME=V1,V2,..",
     "parameter with one value for each curve"},
    {"contrast", 0, REALS, MODEL | PAIRS, AT(ncontrast), AT(contrast), "C1,..",
     "one for all angles or one each"},
    {"offset", 0, REALS, MODEL | PAIRS, AT(noffset), AT(offset), "O1,..",
     "one for all angles or one each"},
    {"offset-sim", 0, REALS, MODEL, AT(noffset), AT(offset), NULL, NULL},
    {"first-time", 0, REAL, MODEL | RARE | PAIRS, AT(first_time), 0, "T",
     "time of the first frame, s; default 0, model heterodyne: DT"},
    {"jacobian", 0, FLAG, BIT(EVAL), AT(jacobian), 0, NULL, "also the derivatives"},
    {"noise", 0, TEXT, BIT(SIMULATE) | PAIRS, AT(noise), 0, "S|P%|from-counts|speckle",
     "standard deviation of the noise, also as a part of the value"},
    {"noise", 0, TEXT, BIT(SIMULATE) | TABLE, AT(noise), 0, "S|P%",
     "standard deviation of the noise, also as a part of the value"},
    {"sigma", 0, TEXT, BIT(SIMULATE), AT(noise), 0, NULL, NULL},
    {"counts", 0, REAL, BIT(SIMULATE) | RARE | PAIRS, AT(counts), 0, "K",
     "from-counts: mean counts per pixel and frame; 0.2"},
    {"pixels", 0, REAL, BIT(SIMULATE) | RARE | PAIRS, AT(pixels), 0, "N",
     "from-counts, speckle: pixels (speckles) of an angle; 100000"},
    {"config-out", 0, TEXT, BIT(SIMULATE), AT(config_out), 0, "FILE",
     "also a configuration that fits the result"},
    {"seed", 0, COUNT, BIT(SIMULATE) | RARE, AT(seed), 0, "K", "of the random numbers; default 1"},
    {"angles", 0, COUNT, BIT(BENCH) | PAIRS, AT(angles), 0, "N", "number of azimuths; default 23"},
    {"repeat", 0, COUNT, BIT(BENCH), AT(repeat), 0, "N", "best of N; default 9"},

    {"output", 'o', TEXT, FILES, AT(output), 0, "FILE", "configuration to be written"},
    {"q", 0, REAL, FILES | PAIRS, AT(q), 0, "Q", "wavevector, 1/angstrom: the nearest one is taken"},
    {"gap", 0, REAL, FILES | PAIRS, AT(gap), 0, "A", "stator-rotor gap, angstrom"},
    {"layout", 0, TEXT, FILES, AT(layout), 0, "NAME",
     "layout of the file, when it is not found out"},

    {"data", 0, CHANGE, RUNS, 0, 0, "FILE", "data file, instead of the configured one"},
    {"data-file", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"method", 'm', CHANGE, RUNS, 0, 0, "M", "nlsq (default), nuts, laplace, cmc, both"},
    {"consensus", 0, SWITCH, RUNS | RARE, 0, 0, NULL, "with --method cmc: shards sampled apart, combined, corrected"},
    {"cmc-num-shards", 0, CHANGE, RUNS | RARE, 0, 0, "N", "--consensus: how many shards"},
    {"start", 0, CHANGE, RUNS, 0, 0, "NAME=VALUE", "starting value; repeat"},
    {"set", 0, CHANGE, RUNS | RARE, 0, 0, "NAME=VALUE", "setting, start, or any key of the configuration"},
    {"fix", 0, CHANGE, RUNS, 0, 0, "NAME[=VALUE]", "hold a parameter"},
    {"free", 0, CHANGE, RUNS | RARE, 0, 0, "NAME", "fit a parameter that the configuration holds"},
    {"tie", 0, CHANGE, RUNS | RARE, 0, 0, "NAME=EXPR",
     "a parameter follows others, as in b=\"0.1*a + 2\"; repeat"},
    {"share", 0, CHANGE, RUNS | RARE, 0, 0, "NAME=HOW",
     "values for angles: per_angle, shared, or sets: 0,45/90; repeat"},
    {"bounds", 0, CHANGE, RUNS, 0, 0, "NAME=LO:HI", "bounds of a parameter"},
    {"q", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "Q", "wavevector, 1/angstrom"},
    {"gap", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "A", "stator-rotor gap, angstrom, or with a unit: \"200 um\""},
    {"dt", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "S", "frame period, s; or yaml, file: which one is right"},
    {"frames", 0, CHANGE, RUNS | PAIRS, 0, 0, "A:B", "first and last row of the matrices, from 1"},
    {"phi", 0, CHANGES, RUNS | PAIRS, 0, 0, "D1,D2,..", "azimuths to fit, degrees"},
    {"sigma", 0, CHANGE, RUNS, 0, 0, "S", "known standard deviation of the noise"},
    {"mask", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "A:B,..", "frames to leave out"},
    {"loss", 0, CHANGE, RUNS | RARE, 0, 0, "L", "linear (default), soft_l1, huber, cauchy, arctan"},
    {"scaling", 0, CHANGE, RUNS | PAIRS, 0, 0, "S",
     "contrast, offset: individual, averaged, constant, fourier, hierarchical"},
    {"fourier-order", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "K", "harmonics of --scaling fourier; default 2"},
    {"cluster-length", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "N",
     "robust errors: frames of a cluster; auto (default): from the residuals"},
    {"cluster-joint", 0, SWITCH, RUNS | RARE | PAIRS, 0, 0, NULL,
     "robust errors: noise of different angles may be correlated"},
    {"profile", 0, CHANGE, RUNS | RARE, 0, 0, "NAME,..",
     "profile likelihood and its intervals; all: of every parameter"},
    {"bootstrap", 0, CHANGE, RUNS | RARE, 0, 0, "KIND[:N]",
     "parametric or block (clusters of frames), N replicates (200)"},
    {"sequence", 0, CHANGE, RUNS | RARE, 0, 0, "angle", "every angle alone as well, as a table"},
    {"stream", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "W",
     "on, off, auto (default): read the data in every pass instead of holding them"},
    {"compat", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "P",
     "conventions of homodyne, heterodyne or xpcsjax"},
    {"max-iterations", 0, CHANGE, RUNS | RARE, 0, 0, "N", "of least squares"},
    {"tolerance", 0, CHANGE, RUNS | RARE, 0, 0, "T", "relative change of the cost at which to stop"},
    {"multistart", 0, SWITCH, RUNS, 0, 0, NULL, "follow several starting points to their minima"},
    {"multistart-n", 0, CHANGE, RUNS | RARE, 0, 0, "N", "how many"},
    {"no-multistart", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"seed", 0, CHANGE, RUNS | RARE, 0, 0, "K", "of the search for starting points and of the chains"},
    {"chains", 0, CHANGE, RUNS | RARE, 0, 0, "N", "of the posterior (--method nuts); default 4"},
    {"warmup", 0, CHANGE, RUNS | RARE, 0, 0, "N", "iterations in which a chain adapts; default 300"},
    {"draws", 0, CHANGE, RUNS | RARE, 0, 0, "N", "of each chain; default 1000 (laplace: in all, 2000)"},
    {"target-accept", 0, CHANGE, RUNS | RARE, 0, 0, "P", "acceptance of the chains; default 0.85"},
    {"max-tree-depth", 0, CHANGE, RUNS | RARE, 0, 0, "N", "doublings of a trajectory; default 10"},
    {"metric", 0, CHANGE, RUNS | RARE, 0, 0, "M", "of the chains: dense (default) or diagonal"},
    {"checkpoint-seconds", 0, CHANGE, RUNS | RARE, 0, 0, "T", "between checkpoints of the chains; default 60"},
    {"max-seconds", 0, CHANGE, RUNS | RARE, 0, 0, "T", "stop after T seconds with what there is"},
    {"profile-time", 0, FLAG, BIT(FIT) | RARE, AT(profile_time), 0, NULL,
     "tell where the seconds went, for each thread"},
    {"dry-run", 0, FLAG, RUNS | RARE, AT(dry_run), 0, NULL, "everything up to the fit, then stop"},
    {"resume", 0, FLAG, BIT(FIT) | RARE, AT(resume), 0, NULL,
     "go on from the checkpoint of the chains, or the results of least squares"},
    {"force", 0, FLAG, FILES, AT(force), 0, NULL, "write over an existing configuration"},
    {"lax", 0, FLAG, RUNS | RARE, AT(lax), 0, NULL, "unknown keys of the configuration are only noted"},
    {"initial-*", 0, CHANGE, RUNS | RARE | PAIRS, 0, 0, "VALUE",
     "starting value, as the Python packages spell it"},

    {"variant", 0, TEXT, ALL | RARE, AT(variant), 0, "V",
     "fast (default) or parity (as the Python packages compute)"},
    {"isa", 0, TEXT, ALL | RARE, AT(isa), 0, "LEVEL",
     "v2, v3, v4: kernel for this instruction set; also FIT_ISA"},
    {"threads", 'j', COUNT, ALL, AT(threads), 0, "N", "default: one per core"},
    {"json", 0, FLAG, BIT(FIT) | BIT(INFO) | BIT(BENCH) | BIT(CHECK) | BIT(ESTIMATE) | BIT(PLAN), AT(json), 0, NULL,
     "result as JSON on standard output"},
    {"quiet", 0, FLAG, ALL, AT(quiet), 0, NULL, "nothing but errors"},
    {"silent", 'q', FLAG, ALL, AT(quiet), 0, NULL, NULL},
    {"verbose", 'v', LEVEL, ALL | RARE, AT(verbose), 0, NULL, "more notes"},
    {"log", 0, TEXT, BIT(FIT) | RARE, AT(log), 0, "FILE",
     "what goes to run.log, line by line while it happens"},
    {"progress", 0, TEXT, BIT(FIT) | RARE, AT(progress), 0, "P",
     "auto (default: on a terminal), none, json"},

    {"static-mode", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"laminar-flow", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"mode", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"no-jit", 0, IGNORE_FLAG, ALL, 0, 0, NULL, NULL},
    {"cmc-backend", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"cmc-plot-diagnostics", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"plotting-backend", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"parallel-plots", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"dense-mass-matrix", 0, SWITCH, RUNS, 0, 0, NULL, NULL},
    {"output-format", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"save-plots", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"plot", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"no-plot", 0, IGNORE_FLAG, RUNS, 0, 0, NULL, NULL},
    {"contrast", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"offset", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"offset-sim", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"phi-angles", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"nlsq-result", 0, IGNORE, RUNS, 0, 0, NULL, NULL},
    {"layout", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"ftol", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"xtol", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"gtol", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"global", 0, SWITCH, RUNS | RARE, 0, 0, NULL, "search the whole box as well (evolution strategy)"},
    {"exclude-t0", 0, SWITCH, RUNS, 0, 0, NULL, NULL},
    {"units", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"q-tolerance", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"n-samples", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"num-samples", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"n-warmup", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"num-warmup", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"n-chains", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"num-chains", 0, CHANGE, RUNS, 0, 0, NULL, NULL},
    {"no-nlsq-warmstart", 0, SWITCH, RUNS, 0, 0, NULL, NULL},
};

static const struct {
    const char *name, *alias;
    enum fit_command command;
    const char *usage, *table; /* for two-time models; for tables, NULL: there is no such command */
    const char *help;
} commands[] = {
    {"fit", NULL, FIT_COMMAND_FIT, "CONFIG.yaml [options]",
     "--data FILE [options], or fit CONFIG.yaml [options]",
     "least-squares fit of a measured data set"},
    {"eval", NULL, FIT_COMMAND_EVAL,
     "-o out.h5 --frames N --dt S --q Q --phi D1,.. --set NAME=VALUE ..",
     "-o out.h5 --x LO:HI:N[:log] --set NAME=VALUE ..", "values and derivatives of the model"},
    {"simulate", "sim", FIT_COMMAND_SIMULATE,
     "[CONFIG.yaml] -o data.h5 --frames N --dt S --q Q --phi D1,.. --noise S",
     "-o data.csv --x LO:HI:N[:log] --set NAME=VALUE .. --noise S", "a synthetic experiment"},
    {"info", "params", FIT_COMMAND_INFO, "[--json]", "[--json]",
     "parameters, units, bounds, cost of the model"},
    {"bench", NULL, FIT_COMMAND_BENCH, "[--frames N] [--angles N] [--json]",
     "[--frames N] [--json]", "times of the kernels"},
    {"inspect", NULL, FIT_COMMAND_INSPECT, "FILE [--q Q] [-o CONFIG.yaml]", NULL,
     "what a data file holds"},
    {"init", NULL, FIT_COMMAND_INIT, "FILE -o CONFIG.yaml [--q Q]", NULL,
     "writes a short configuration for a data file"},
    {"check", "validate", FIT_COMMAND_CHECK, "CONFIG.yaml", "CONFIG.yaml", "validates a configuration"},
    {"estimate", NULL, FIT_COMMAND_ESTIMATE, "CONFIG.yaml", NULL,
     "memory and time that a fit will take"},
    {"plan", NULL, FIT_COMMAND_PLAN, "CONFIG.yaml --frames 1:N --dt S --phi D1,.. --sigma S", NULL,
     "the errors to be expected, before there are data"},
    {"selfcheck", NULL, FIT_COMMAND_SELFCHECK, "FILE..", "FILE..",
     "compares the kernels with reference values that the build made"},
};

const char *fit_cli_command_name(enum fit_command command)
{
    for (size_t k = 0; k < COUNT_OF(commands); k++)
        if (commands[k].command == command)
            return commands[k].name;
    return "?";
}

/* ---- storage
 * ---------------------------------------------------------------------------------------- */

struct parser {
    struct fit_cli *cli;
    int argc;
    char *const *argv;
    int at; /* next word */
    struct fit_error *err;
};

static enum fit_status no_memory(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_MEMORY, "command line: out of memory");
}

/* Strings made here live in a chain until fit_cli_free. */
struct kept {
    struct kept *next;
    char text[];
};

char *fit_cli_keep(struct fit_cli *cli, size_t size)
{
    struct kept *k = malloc(sizeof *k + size);
    if (!k)
        return NULL;
    k->next = cli->storage_;
    cli->storage_ = k;
    return k->text;
}

static enum fit_status add_pair(struct fit_cli_pair **list, size_t *n, const char *name,
                                const char *value, struct fit_error *err)
{
    struct fit_cli_pair *p = realloc(*list, (*n + 1) * sizeof *p);
    if (!p)
        return no_memory(err);
    p[*n] = (struct fit_cli_pair){name, value};
    *list = p;
    *n += 1;
    return FIT_OK;
}

/* ---- values
 * ----------------------------------------------------------------------------------------- */

static int is_number(const char *s)
{
    char *end;
    if (!*s)
        return 0;
    strtod(s, &end);
    return end != s && (*end == '\0' || *end == ',');
}

/* Unit in which an option's number is kept; another unit may be written behind it: --gap "200 um".
 */
static const char *unit_of(const char *name)
{
    static const char *const unit[][2] = {
        {"q", "1/angstrom"}, {"gap", "angstrom"}, {"dt", "s"}, {"first-time", "s"}};
    for (size_t k = 0; k < COUNT_OF(unit); k++)
        if (strcmp(name, unit[k][0]) == 0)
            return unit[k][1];
    return NULL;
}

static enum fit_status to_real(const char *name, const char *s, double *value,
                               struct fit_error *err)
{
    const char *unit = unit_of(name);
    enum fit_quantity q = fit_quantity_parse(s, unit, value);
    if ((q == FIT_QUANTITY_BARE || q == FIT_QUANTITY_CONVERTED) && isfinite(*value))
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a number%s%s", name, s,
                    unit ? " in " : "", unit ? unit : "");
}

static enum fit_status to_count(const char *name, const char *s, uint64_t *value,
                                struct fit_error *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    if (end == s || *end || errno || strchr(s, '-'))
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a whole number from 0", name, s);
    *value = v;
    return FIT_OK;
}

/* Adds the numbers of "1,2,3" to an array. */
static enum fit_status add_reals(const char *name, const char *s, size_t *n, double **array,
                                 struct fit_error *err)
{
    while (*s) {
        char *end;
        double v = strtod(s, &end);
        if (end == s || (*end && *end != ',') || !isfinite(v))
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a list of numbers, e.g. 0,45,90",
                            name, s);
        double *a = realloc(*array, (*n + 1) * sizeof *a);
        if (!a)
            return no_memory(err);
        a[*n] = v;
        *array = a;
        *n += 1;
        s = *end ? end + 1 : end;
    }
    return FIT_OK;
}

/* "45 90" after "--phi 0": all words that are numbers, joined by commas. */
static enum fit_status join_numbers(struct parser *p, const char *first, const char **text)
{
    size_t size = strlen(first) + 1;
    int last = p->at;
    while (last < p->argc && is_number(p->argv[last]))
        size += strlen(p->argv[last++]) + 1;
    char *s = fit_cli_keep(p->cli, size);
    if (!s)
        return no_memory(p->err);
    strcpy(s, first);
    for (; p->at < last; p->at++) {
        strcat(s, ",");
        strcat(s, p->argv[p->at]);
    }
    *text = s;
    return FIT_OK;
}

/* ---- options
 * ---------------------------------------------------------------------------------------- */

static int takes_value(enum kind kind)
{
    return kind != FLAG && kind != LEVEL && kind != SWITCH && kind != IGNORE_FLAG;
}

static int name_matches(const struct option *o, const char *name, size_t n)
{
    size_t m = strlen(o->name);
    if (o->name[m - 1] == '*')
        return n >= m && strncmp(o->name, name, m - 1) == 0;
    return n == m && strncmp(o->name, name, n) == 0;
}

static const struct option *find(enum fit_command command, const char *name, size_t n, char letter)
{
    for (size_t k = 0; k < COUNT_OF(options); k++) {
        const struct option *o = &options[k];
        if (!(o->commands & (1u << command)))
            continue;
        if (letter ? o->letter == letter : name_matches(o, name, n))
            return o;
    }
    return NULL;
}

static enum fit_status unknown(const struct parser *p, const char *word, const char *name, size_t n)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(n < 63 ? n : 63), name);
    struct fit_nearest nearest = {.name = copy};
    const char *command = fit_cli_command_name(p->cli->command), *elsewhere = NULL;
    for (size_t k = 0; k < COUNT_OF(options); k++) {
        if (options[k].commands & (1u << p->cli->command))
            fit_nearest_offer(&nearest, options[k].name);
        else if (strcmp(options[k].name, copy) == 0)
            for (size_t c = 0; c < COUNT_OF(commands); c++)
                if (options[k].commands & (1u << commands[c].command))
                    elsewhere = commands[c].name;
    }
    if (elsewhere)
        return fit_fail(p->err, FIT_ERR_USAGE, "%s: no option of `%s`; it belongs to `%s`", word,
                        command, elsewhere);
    return fit_fail(p->err, FIT_ERR_USAGE, "%s: unknown option%s%s; see %s --help", word,
                    nearest.best ? "; did you mean --" : "", nearest.best ? nearest.best : "",
                    command);
}

static enum fit_status store(struct parser *p, const struct option *o, const char *name,
                             const char *value)
{
    struct fit_cli *cli = p->cli;
    char *at = (char *)cli + o->at;
    switch (o->kind) {
    case FLAG: *(int *)(void *)at = 1; return FIT_OK;
    case LEVEL: *(int *)(void *)at += 1; return FIT_OK;
    case TEXT: *(const char **)(void *)at = value; return FIT_OK;
    case REAL: return to_real(name, value, (double *)(void *)at, p->err);
    case COUNT: return to_count(name, value, (uint64_t *)(void *)at, p->err);
    case REALS:
        if (join_numbers(p, value, &value) != FIT_OK)
            return FIT_ERR_MEMORY;
        *(size_t *)(void *)at = 0; /* the last one counts */
        return add_reals(name, value, (size_t *)(void *)at,
                         (double **)(void *)((char *)cli + o->aux), p->err);
    case CHANGES:
        if (join_numbers(p, value, &value) != FIT_OK)
            return FIT_ERR_MEMORY;
        return add_pair(&cli->change, &cli->nchange, name, value, p->err);
    case CHANGE:
    case SWITCH: return add_pair(&cli->change, &cli->nchange, name, value, p->err);
    case IGNORE:
    case IGNORE_FLAG: break;
    }
    return add_pair(&cli->ignored, &cli->nignored, name, value, p->err);
}

/* One option: --name, --name=value, --name value, -n, -n value. */
static enum fit_status option(struct parser *p)
{
    const char *word = p->argv[p->at++], *value = NULL, *name = word + 2;
    const struct option *o;
    size_t n = 1;
    if (word[1] == '-') {
        const char *equal = strchr(name, '=');
        n = equal ? (size_t)(equal - name) : strlen(name);
        value = equal ? equal + 1 : NULL;
        o = find(p->cli->command, name, n, 0);
    } else {
        name = word + 1;
        o = word[2] ? NULL : find(p->cli->command, NULL, 0, word[1]);
    }
    if (!o)
        return unknown(p, word, name, n);
    if (!takes_value(o->kind) && value)
        return fit_fail(p->err, FIT_ERR_USAGE, "--%s: takes no value", o->name);
    if (takes_value(o->kind) && !value) {
        if (p->at == p->argc)
            return fit_fail(p->err, FIT_ERR_USAGE, "%s: a value is missing%s%s", word,
                            o->argument ? ": " : "", o->argument ? o->argument : "");
        value = p->argv[p->at++];
    }
    const char *full = o->name;
    if (full[strlen(full) - 1] == '*') { /* --initial-d0: the name as it was written */
        char *s = fit_cli_keep(p->cli, n + 1);
        if (!s)
            return no_memory(p->err);
        memcpy(s, name, n);
        s[n] = '\0';
        full = s;
    }
    return store(p, o, full, value);
}

static int find_command(const char *word, enum fit_command *command)
{
    for (size_t k = 0; k < COUNT_OF(commands); k++)
        if (strcmp(word, commands[k].name) == 0 ||
            (commands[k].alias && strcmp(word, commands[k].alias) == 0)) {
            *command = commands[k].command;
            return 1;
        }
    return 0;
}

enum fit_status fit_cli_parse(int argc, char *const argv[], struct fit_cli *cli,
                              struct fit_error *err)
{
    struct parser p = {cli, argc, argv, 1, err};
    *cli = (struct fit_cli){.command = FIT_COMMAND_FIT,
                            .dt = NAN,
                            .q = NAN,
                            .gap = NAN,
                            .first_time = NAN,
                            .counts = 0.2,
                            .pixels = 1e5,
                            .seed = 1,
                            .repeat = 9,
                            .angles = 23};
    if (argc > 1 && find_command(argv[1], &cli->command))
        p.at = 2;
    enum fit_status st = FIT_OK;
    int plain = 0; /* after "--" */
    while (p.at < argc && st == FIT_OK) {
        const char *word = argv[p.at];
        if (!plain && strcmp(word, "--") == 0) {
            plain = 1;
            p.at++;
        } else if (!plain && word[0] == '-' && word[1]) {
            st = option(&p);
        } else {
            const char **list = realloc(cli->word, (cli->nword + 1) * sizeof *list);
            if (!list)
                return no_memory(err);
            list[cli->nword++] = word;
            cli->word = list;
            p.at++;
        }
    }
    return st;
}

void fit_cli_free(struct fit_cli *cli)
{
    for (struct kept *k = cli->storage_, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(cli->word);
    free(cli->change);
    free(cli->ignored);
    free(cli->phi);
    free(cli->groups);
    free(cli->contrast);
    free(cli->offset);
    *cli = (struct fit_cli){0};
}

/* ---- help
 * ------------------------------------------------------------------------------------------- */

int fit_cli_row(enum fit_command command, enum fit_space space, size_t k, struct fit_cli_row *row)
{
    const unsigned without = space == FIT_ROWS ? PAIRS : TABLE;
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        const struct option *o = &options[i];
        if (!(o->commands & (1u << command)) || (o->commands & without) || !o->help || k-- > 0)
            continue;
        *row = (struct fit_cli_row){o->name, o->letter, takes_value(o->kind) ? o->argument : NULL,
                                    o->help, (o->commands & RARE) != 0};
        return 1;
    }
    return 0;
}

int fit_cli_command(size_t k, struct fit_cli_command *command)
{
    if (k >= COUNT_OF(commands))
        return 0;
    *command = (struct fit_cli_command){commands[k].name, commands[k].alias, commands[k].command,
                                        commands[k].usage, commands[k].table, commands[k].help};
    return 1;
}

void fit_cli_put_wrapped(FILE *f, const char *text, size_t at)
{
    const size_t room = 79 - at;
    while (strlen(text) > room) {
        size_t n = room;
        while (n > 0 && text[n] != ' ')
            n--;
        n = n ? n : strcspn(text, " ");
        fprintf(f, "%.*s\n%*s", (int)n, text, (int)at, "");
        text += n + strspn(text + n, " ");
    }
    fprintf(f, "%s\n", text);
}

void fit_cli_put_row(FILE *f, const struct fit_cli_row *row)
{
    enum { LEFT = 28 };
    char left[64];
    int n = snprintf(left, sizeof left, "%s%c%s--%s%s%s", row->letter ? "-" : " ",
                     row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
                     row->argument ? " " : "", row->argument ? row->argument : "");
    fprintf(f, "  %-*s ", LEFT - 3, left);
    if (n > LEFT - 3)
        fprintf(f, " "); /* the text begins later, and goes on where it should */
    fit_cli_put_wrapped(f, row->help, n > LEFT - 3 ? (size_t)n + 4 : LEFT);
}

static void help_options(FILE *f, enum fit_command command, enum fit_space space, int all)
{
    struct fit_cli_row row;
    int hidden = 0;
    for (size_t k = 0; fit_cli_row(command, space, k, &row); k++)
        if (all || !row.rare)
            fit_cli_put_row(f, &row);
        else
            hidden++;
    if (hidden)
        fprintf(f, "  ... and %d more: %s --help-all\n", hidden, fit_cli_command_name(command));
}

char *fit_cli_help(const char *program, const char *title, enum fit_space space,
                   enum fit_command command, int all)
{
    const int table = space == FIT_ROWS;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "%s: %s\n\n", program, title);
    for (size_t k = 0; k < COUNT_OF(commands); k++) {
        if (command != FIT_COMMAND_COUNT && command != commands[k].command)
            continue;
        const char *usage = table ? commands[k].table : commands[k].usage;
        if (!usage && command == commands[k].command)
            fprintf(f, "%s: for two-time data only; a table needs no more than fit --data FILE\n",
                    commands[k].name);
        if (!usage)
            continue;
        fprintf(f, "%s %s %s\n    %s%s%s\n", program, commands[k].name, usage,
                commands[k].help, commands[k].alias ? "; also called " : "",
                commands[k].alias ? commands[k].alias : "");
    }
    fprintf(f, "\n");
    if (command == FIT_COMMAND_COUNT)
        fprintf(f, "Without a command: fit.  Options of a command: %s COMMAND --help\n", program);
    else
        help_options(f, command, space, all);
    fprintf(f, "\nExit status: 0 converged, 1 internal error, 2 finished but not converged,\n"
               "3 usage or configuration, 4 data, 130 interrupted.\n");
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
