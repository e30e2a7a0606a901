/* options.c -- the table of commands and their own options.
 *
 * Together with the table of the fitters (runtime/commands/cli.c) it is the only source: parsing, --help, the manual
 * pages and the completions of the shells are made from these two (document.c). */
#include "frontend/front.h"
#include "frontend/programs.h"

#include <string.h>

#define END {NULL, 0, NULL, NULL, 0, OPTION_KEPT}
#define RARE (unsigned)OPTION_RARE
#define MODEL \
    {"model", 0, "NAME|FILE.lua", "model instead of the configuration's; a file of one's own is compiled once", 0, \
     OPTION_KEPT}

// clang-format off
/* Spellings of the Python packages; the last one is refused, with an alternative. */
#define PACKAGES \
    {"mode", 0, "MODE", "analysis mode, when the configuration has none", RARE, OPTION_KEPT}, \
    {"static-mode", 0, NULL, NULL, RARE, OPTION_KEPT}, \
    {"laminar-flow", 0, NULL, NULL, RARE, OPTION_KEPT}, \
    {"plot-experimental-data", 0, NULL, NULL, RARE, OPTION_KEPT}, \
    {"plot-simulated-data", 0, NULL, NULL, RARE, OPTION_KEPT}, \
    {"show-template", 0, NULL, NULL, RARE, OPTION_KEPT}

static const struct option_row of_fit[] = {
    MODEL,
    {"nlsq-result", 0, "DIR", "begin from the result in this folder, also homodyne's", RARE, OPTION_KEPT},
    PACKAGES,
    END,
};
static const struct option_row of_model[] = {MODEL, PACKAGES, END};
static const struct option_row of_config[] = {
    {"mode", 'm', "MODE", "laminar_flow, heterodyne, ...: see `homodyne models`", 0, OPTION_KEPT},
    {"output", 'o', "FILE", "to be written; default config.yaml; - : the screen", 0, OPTION_KEPT},
    {"data", 'd', "FILE", "data file: q, frames and period are looked up", 0, OPTION_KEPT},
    {"q", 0, "Q", "wavevector, 1/angstrom: the nearest ring of the file", 0, OPTION_KEPT},
    {"gap", 0, "A", "stator-rotor gap: \"200 um\", or a number in angstrom", 0, OPTION_KEPT},
    {"dt", 0, "S", "frame period, s, when the file does not say it", 0, OPTION_KEPT},
    {"frames", 0, "A:B", "first and last frame, from 1", 0, OPTION_KEPT},
    {"phi", 0, "A:B,..", "azimuths in these ranges: -10:10,80:100", 0, OPTION_KEPT},
    {"method", 0, "M", "nlsq (default), nuts, laplace", 0, OPTION_KEPT},
    {"keys", 0, NULL, "list every key of configurations, also of the packages, and its effect", 0, OPTION_KEPT},
    {"interactive", 'i', NULL, "ask; so, too, on a terminal without --mode", 0, OPTION_KEPT},
    {"force", 'f', NULL, "write over an existing file", 0, OPTION_KEPT},
    {"overwrite", 0, NULL, NULL, RARE, OPTION_KEPT},
    {"json", 0, NULL, "what was written, as JSON on standard output", RARE, OPTION_KEPT},
    {"quiet", 'q', NULL, "nothing but errors", RARE, OPTION_KEPT},
    END,
};
static const struct option_row of_compare[] = {
    {"sigma", 0, "S", "differences beyond S standard deviations count; default 3", 0, OPTION_KEPT},
    {"json", 0, NULL, "the table as JSON", 0, OPTION_KEPT},
    {"all", 'a', NULL, "contrast and offset of every angle, too", 0, OPTION_KEPT},
    {"report", 0, "[=FILE]", "a page as well: maps of the difference, g2 and curves of both; default compare.html", 0,
     OPTION_KEPT},
    {"quiet", 'q', NULL, "only the exit status", 0, OPTION_KEPT},
    END,
};
static const struct option_row of_table[] = {
    {"markdown", 0, NULL, "the default", 0, OPTION_KEPT},
    {"latex", 0, NULL, "a tabular with symbols (needs the package booktabs)", 0, OPTION_KEPT},
    {"csv", 0, NULL, "all digits; value, error and interval in columns of their own", 0, OPTION_KEPT},
    {"all", 'a', NULL, "contrast and offset of every angle, too", 0, OPTION_KEPT},
    END,
};
static const struct option_row of_batch[] = {
    {"output-dir", 'o', "DIR", "folder of all results and of the table; default ./batch", 0, OPTION_KEPT},
    {"output", 0, "DIR", NULL, RARE, OPTION_KEPT},
    {"q", 0, "Q1,Q2,..|all", "wavevectors to fit one by one; default: the configuration's", 0, OPTION_KEPT},
    {"jobs", 0, "N", "fits at a time; default: as many as there are cores", 0, OPTION_KEPT},
    {"again", 0, NULL, "also what is done already", 0, OPTION_KEPT},
    {"list", 0, NULL, "what would be fitted, then stop", 0, OPTION_KEPT},
    {"part", 0, "K/N", "share K of N of the list first, then what the others have not begun; in arrays of SLURM and"
                       " copies of srun or mpirun: theirs", 0, OPTION_KEPT},
    {"slurm", 0, "[=N]", "a script for sbatch, an array of N elements that share the fits; default: of 10 min", 0,
     OPTION_KEPT},
    MODEL,
    END,
};
static const struct option_row of_watch[] = {
    {"every", 0, "S", "seconds between looks at the file; default 2", 0, OPTION_KEPT},
    {"once", 0, NULL, "stop after the first fit", RARE, OPTION_KEPT},
    {"until-idle", 0, "S", "stop when the file has not changed for S seconds", 0, OPTION_KEPT},
    {"view", 0, NULL, "show it in a browser: parameters against time, the last map, the verdict", 0, OPTION_KEPT},
    MODEL,
    END,
};
static const struct option_row of_plot[] = {
    FRONT_PLOT_ROWS,
    MODEL,
    END,
};
static const struct option_row of_figure[] = {
    FRONT_FIGURE_ROWS,
    END,
};
static const struct option_row of_report[] = {
    FRONT_REPORT_ROWS,
    MODEL,
    END,
};
static const struct option_row of_view[] = {
    FRONT_VIEW_ROWS,
    END,
};
static const struct option_row of_compile[] = {
    {"quiet", 'q', NULL, "nothing but the path and errors", 0, OPTION_KEPT},
    {"json", 0, NULL, "model and path as JSON", 0, OPTION_KEPT},
    END,
};
static const struct option_row of_contin[] = {
    {"q", 0, "Q[,Q..]", "wavevector of each curve, 1/angstrom, when no column q says it", 0, OPTION_KEPT},
    {"angle", 0, "A[,A..]", "scattering angle instead, deg; with --wavelength, --index", 0, OPTION_KEPT},
    {"wavelength", 0, "L", "in vacuum: \"633 nm\", or a number in angstrom", 0, OPTION_KEPT},
    {"index", 0, "N", "refractive index of the liquid; default 1", 0, OPTION_KEPT},
    {"temperature", 0, "T", "with --viscosity: hydrodynamic radii; K", 0, OPTION_KEPT},
    {"viscosity", 0, "ETA", "of the liquid: \"0.89 mPa*s\", or a number in Pa*s", 0, OPTION_KEPT},
    {"axis", 0, "AXIS", "rate, diffusion, radius", 0, OPTION_KEPT},
    {"range", 0, "LO:HI", "of the axis; default: what the delays can show", 0, OPTION_KEPT},
    {"points", 0, "N", "of the grid; default 60", 0, OPTION_KEPT},
    {"smoothing", 0, "S", "evidence (default), lcurve, or the strength itself", 0, OPTION_KEPT},
    {"baseline", 0, "B", "fixed (default: g2 goes to 1, g1 to 0), free", 0, OPTION_KEPT},
    {"delays", 0, "A:B", "delays that are taken, s", 0, OPTION_KEPT},
    {"output", 'o', "DIR", "folder for contin.json, contin.h5, contin.svg", 0, OPTION_KEPT},
    {"table", 0, NULL, "print the distribution, too", 0, OPTION_KEPT},
    {"json", 0, NULL, "all numbers as JSON on standard output", 0, OPTION_KEPT},
    {"kind", 0, "KIND", "g1 or g2; default: by the names of columns", RARE, OPTION_KEPT},
    {"columns", 0, "LIST", "what columns are called: \"delay: x, g2: y\"", RARE, OPTION_KEPT},
    {"units", 0, "LIST", "what columns are in: \"delay: ms\"", RARE, OPTION_KEPT},
    {"draws", 0, "N", "draws for the errors; default 1000; 0: no errors", RARE, OPTION_KEPT},
    {"seed", 0, "N", "of the draws; default 1", RARE, OPTION_KEPT},
    {"quiet", 'q', NULL, "nothing but errors", RARE, OPTION_KEPT},
    END,
};
static const struct option_row of_models[] = {
    {"json", 0, NULL, "as JSON on standard output", 0, OPTION_KEPT},
    END,
};
static const struct option_row of_demo[] = {
    {"json", 0, NULL, "truth and result as JSON on standard output", 0, OPTION_KEPT},
    {"quiet", 'q', NULL, "nothing but errors", 0, OPTION_KEPT},
    END,
};
static const struct option_row of_mpi[] = {
    {"build", 0, NULL, "make the plugin for the MPI of this site", 0, OPTION_KEPT},
    {"mpicc", 0, "FILE", "its compiler; default: MPICC, else mpicc", 0, OPTION_KEPT},
    {"quiet", 'q', NULL, "nothing but errors", 0, OPTION_KEPT},
    END,
};
static const struct option_row none[] = {END};

const struct front_command front_commands[] = {
    {"fit", NULL, "CONFIG.yaml|--model NAME --data FILE [options]", "fit the data that a configuration names",
     "Runs homodyne-MODEL for the model that the configuration asks for. Configurations and options "
     "of the Python packages homodyne, heterodyne and xpcsjax are accepted as they are. The command "
     "may be left out: `homodyne --config my.yaml --method nlsq --output-dir results`. Without any "
     "configuration ./homodyne_config.yaml is read.",
     FIT_COMMAND_FIT, NULL, of_fit, front_cmd_fit, 0},
    {"validate", "check", "CONFIG.yaml.. [options]", "every mistake in a configuration and its data",
     "All mistakes are listed at once, with their lines and what would be right. Nothing is fitted or written.",
     FIT_COMMAND_CHECK, "check", of_model, front_cmd_validate, 0},
    {"config", NULL, "[--mode MODE] [--data FILE] [-o FILE]", "write a short commented configuration",
     NULL, FIT_COMMAND_COUNT, NULL, of_config, front_cmd_config, 0},
    {"inspect", NULL, "DATA [--q Q]", "what a data file holds", NULL,
     FIT_COMMAND_INSPECT, NULL, of_model, front_cmd_pass, 0},
    {"plan", NULL, "CONFIG.yaml [options]", "expected errors of an experiment that is planned",
     "Takes the configuration of a fit. Frames, frame period, wavevectors, azimuths and noise come from options "
     "(--frames 1:N, --dt, --q, --phi, --sigma), else from the configuration, else from its data file. Parameters "
     "have their starting values.",
     FIT_COMMAND_PLAN, NULL, of_model, front_cmd_pass, 0},
    {"estimate", NULL, "CONFIG.yaml [options]", "memory and time that a fit will take", NULL,
     FIT_COMMAND_ESTIMATE, NULL, of_model, front_cmd_pass, 1},
    {"simulate", "sim", "CONFIG.yaml|--model NAME -o FILE", "a synthetic experiment",
     "With a configuration: frames, period, q, gap, azimuths and starting values are those of the fit (of its data "
     "file, where there is one); options take precedence. Without one: values come from options, else from the starts "
     "of the model.",
     FIT_COMMAND_SIMULATE, NULL, of_model, front_cmd_pass, 0},
    {"compare", NULL, "RESULT RESULT [options]", "differences of two results in standard deviations",
     "Results are folders of fits, also of the Python packages. A result with a posterior is represented by its mean "
     "and standard deviation, any other by its least-squares values. The exit status is 0 when all parameters agree "
     "within the limit, 2 when one does not or the models differ.",
     FIT_COMMAND_COUNT, NULL, of_compare, front_cmd_compare, 0},
    {"table", NULL, "RESULT.. [options]", "parameters of results side by side, for a paper",
     "Values and errors are rounded together. A result with a posterior gives its mean and standard deviation, any "
     "other its least-squares values with the robust error where there is one. A parameter whose error does not hold "
     "has its 95 % interval instead.",
     FIT_COMMAND_COUNT, NULL, of_table, front_cmd_table, 0},
    {"contin", NULL, "DATA.. [options]", "distribution of decay rates or sizes from g1 or g2",
     "DATA is a table with delay, g2 or g1, sigma, and, for several wavevectors, q; several files are one sample at "
     "several q. The distribution is nonnegative and smooth (Provencher's CONTIN); the data determine how smooth. g2 "
     "itself is fitted, not the root of g2 - 1. Errors are 95 % intervals.",
     FIT_COMMAND_COUNT, NULL, of_contin, front_cmd_contin, 0},
    {"batch", NULL, "CONFIG.yaml [DATA..] [options]", "many files or q rings, one table",
     "Fits every data file with the configuration, several at a time, each in a folder of its own "
     "below the output folder, and writes series.csv and series.h5 there as they end. After a stop the same command "
     "continues where it was. All options of fit are accepted as well.",
     FIT_COMMAND_FIT, NULL, of_batch, front_cmd_batch, 0},
    {"watch", NULL, "CONFIG.yaml [options]", "fit again whenever the data file has grown",
     "Each fit begins from the last result and prints a line of numbers. All options of fit are accepted as well. "
     "Ctrl-C ends it.",
     FIT_COMMAND_FIT, NULL, of_watch, front_cmd_watch, 0},
    {"plot", NULL, "RESULT|CONFIG.yaml|DATA [options]", "figures of a fit or of data, a file each",
     "RESULT is the folder of a fit: maps, cuts, curves, residuals, correlations, and those of a posterior. For a "
     "configuration or a data file: maps of the data and g2 against the lag, as a fit would see them; options choose "
     "angles, frames and wavevector.",
     FIT_COMMAND_EXTRACT, "extract", of_plot, front_cmd_report, 0},
    {"report", NULL, "RESULT [RESULT]|CONFIG.yaml|DATA [options]",
     "one HTML page about a fit, two fits or data, with all figures",
     "RESULT is the folder of a fit; two results give the page of `compare --report`. For a configuration or a data "
     "file, the page shows the data before any fit, as `plot` does. The page needs no other file and no network.",
     FIT_COMMAND_EXTRACT, "extract", of_report, front_cmd_report, 0},
    {"view", NULL, "DATA|CONFIG.yaml|RESULT.. [options]", "data, model and fits in a browser, to be moved",
     "Answers at 127.0.0.1 alone, at an address with a token, until Ctrl-C. Choose wavevector, azimuths and frames, "
     "move the parameters of the model, fit from there, lay results side by side, write a configuration. Nothing "
     "is written outside the output folder. On another machine: ssh -L PORT:127.0.0.1:PORT, with --port PORT.",
     FIT_COMMAND_COUNT, NULL, of_view, front_cmd_view, 0},
    {"figure", NULL, "RESULT [options]", "one composed figure for a paper: panels a, b, c, ...",
     "Maps with data above the diagonal and the fit below, g2 with the fit, what follows from the parameters over "
     "time, with bands; of a table data, fit and residuals. Letters of 7 to 8 points on the width of a column, "
     "fonts in the PDF, the same bytes from the same result. A caption is printed.",
     FIT_COMMAND_COUNT, NULL, of_figure, front_cmd_figure, 0},
    {"extract", NULL, "CONFIG.yaml -o FILE.h5 [options]", "the data as a fit sees them: maps and g2, in HDF5",
     "What `plot` draws of data: maps of c2 (large ones averaged), g2 over the lag at four ages, the noise of each "
     "angle. With --data FILE and --model NAME no configuration is needed.",
     FIT_COMMAND_EXTRACT, NULL, of_model, front_cmd_pass, 1},
    {"models", NULL, "", "the models that can be fitted", NULL,
     FIT_COMMAND_COUNT, NULL, of_models, front_cmd_models, 0},
    {"info", "params", "--model NAME", "parameters, units, bounds of a model; accelerators", NULL,
     FIT_COMMAND_INFO, NULL, of_model, front_cmd_pass, 0},
    {"demo", NULL, "[FOLDER]", "fit a bundled experiment, the truth beside the result", NULL,
     FIT_COMMAND_COUNT, NULL, of_demo, front_cmd_demo, 0},
    {"eval", NULL, "--model NAME -o FILE [options]", "values and derivatives of a model", NULL,
     FIT_COMMAND_EVAL, NULL, of_model, front_cmd_pass, 1},
    {"bench", NULL, "--model NAME [options]", "times of the kernels of a model", NULL,
     FIT_COMMAND_BENCH, NULL, of_model, front_cmd_pass, 1},
    {"compile", NULL, "FILE.lua", "compile a model file; prints where its kernel is",
     "The kernel is kept in the cache, for this processor, until the file changes; --model FILE.lua and the Python "
     "package's load_model(\"FILE.lua\") use the same.",
     FIT_COMMAND_COUNT, NULL, of_compile, front_cmd_compile, 1},
    {"mpi", NULL, "[--build]", "the plugin by which a fit runs on several nodes",
     "Without options: the file that would be used. --build compiles it with the compiler of the MPI that starts the "
     "jobs, into the cache of the user (~/.cache/homodyne/mpi). Then `mpirun -n R homodyne fit ...` and "
     "`srun --mpi=pmix` are one fit on R ranks.",
     FIT_COMMAND_COUNT, NULL, of_mpi, front_cmd_mpi, 1},
    {"completion", NULL, "bash|zsh|fish", "completions of a shell, on standard output", NULL,
     FIT_COMMAND_COUNT, NULL, none, front_cmd_document, 1},
    {"manual", NULL, "[COMMAND]", "a manual page (roff), on standard output", NULL,
     FIT_COMMAND_COUNT, NULL, none, front_cmd_document, 1},
    {NULL, NULL, NULL, NULL, NULL, FIT_COMMAND_COUNT, NULL, NULL, NULL, 0},
};
// clang-format on

const struct option_row *front_row(const struct front_command *c, size_t k, int *rare)
{
    const struct option_row *row;
    for (const struct option_row *o = c->option; o && o->name; o++)
        if (o->help && k-- == 0) {
            *rare = (o->where & OPTION_RARE) != 0;
            return o;
        }
    for (size_t i = 0; c->fitter != FIT_COMMAND_COUNT && (row = fit_cli_row(c->fitter, FIT_PAIRS, i)); i++) {
        int own = 0;
        for (const struct option_row *o = c->option; o && o->name; o++)
            own |= strcmp(o->name, row->name) == 0;
        if (!own && k-- == 0) {
            const int batch = c->fitter == FIT_COMMAND_FIT && c != front_commands; /* or watch */
            *rare = batch || (row->where & OPTION_RARE);
            return row;
        }
    }
    return NULL;
}

const char *front_choices(const char *option)
{
    static const char *const choices[][2] = {
        {"method", "nlsq nuts laplace cmc both"},
        {"loss", "linear soft_l1 huber cauchy arctan"},
        {"scaling", "individual averaged constant"},
        {"stream", "on off auto"},
        {"compat", "homodyne heterodyne xpcsjax"},
        {"metric", "dense diagonal"},
        {"progress", "auto none json"},
        {"smoothing", "evidence lcurve"},
        {"baseline", "fixed free"},
        {"axis", "rate diffusion radius"},
        {"kind", "g1 g2"},
        {"variant", "fast parity"},
        {"isa", "v2 v3 v4"},
        {"mode", "laminar_flow static_isotropic static_anisotropic heterodyne"},
    };
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
        if (strcmp(choices[k][0], option) == 0)
            return choices[k][1];
    return NULL;
}
