/* fit_job.h -- one run of the command `fit`: its state, and its phases, in the order in which fit.c calls them.
 *
 *     fit_job_load       data file -> measurement, after a message about memory (fit_load.c)
 *     fit_job_minimise   least squares, comparison of data and model      (fit_minimise.c)
 *     fit_job_study      bootstrap, every angle or q alone                   (fit_minimise.c)
 *     fit_job_sample     the posterior, when one is requested             (fit_posterior.c)
 *     fit_job_write      all files under temporary names, then renamed    (fit_write.c)
 *     fit_job_print      one screen, or JSON                              (fit_print.c)
 *
 * Every phase returns FIT_OK or the status of `err`; fit.c releases what it has allocated, also after an error.
 */
#pragma once

#include "base/lock.h"
#include "base/output.h"
#include "base/run_id.h"
#include "commands/program.h"
#include "commands/progress.h"
#include "files/yaml_tree.h"
#include "fit/maps.h"
#include "input/measurement.h"
#include "results/results.h"
#include "sampling/predictive.h"
#include "sampling/residual_check.h"
#include "setup/sampling_setup.h"
#include "setup/setup.h"

#include <stdio.h>
#include <time.h>

/* The state of a run; released in one function. */
struct fit_job {
    struct fit_program *p;
    const struct fit_cli *cli;
    const struct fit_kernel *model, *k; /* the model's; the one used for the fit (linkage.h) */
    struct fit_config_log log;
    struct fit_config *cfg;
    struct fit_measurement *m;
    struct fit_setup setup;
    struct fit_result fit;
    int fitted, sampled;
    char *identity, checkpoint[1100]; /* of the posterior; file */
    char no_posterior[512];           /* reason why there is none, although one was requested */
    struct fit_sampling_setup posterior;
    struct fit_samples samples;
    struct fit_predictive predictive;
    struct fit_residual_check residuals;
    struct fit_study study;
    size_t *profiles; /* of the options */
    struct fit_maps *maps;
    struct fit_notes notes;
    struct fit_progress_view view;
    double bytes; /* that loading reads, about */
    char *command_line, *config_text;
    struct fit_yaml_doc *last; /* fit.json of the last fit into the same folder, or NULL */
    char earlier[1024]; /* what happened to earlier results in the folder: lines */
    char *runlog;   /* text of run.log, grown by a memory stream */
    size_t runlog_size;
    FILE *log_file, *log_copy; /* run.log in memory; --log */
    char folder[1024];
    char run_id[FIT_RUN_ID];
    char kept[256]; /* as in struct fit_results */
    struct fit_lock lock; /* of the folder */
    struct fit_input input;
    struct fit_results r;
    double clock, began, shared_seconds; /* began: of the clock of all ranks */
    time_t begin;
};

/* One line in run.log, and in the file of --log, with the seconds since the program began. */
void fit_job_say(struct fit_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Settings of the model as configured, for the caller to free; NULL: out of memory. */
double *fit_job_settings(const struct fit_job *job);

/* A standard deviation in the configuration for the rows of a table. */
enum fit_status fit_job_give_sigma(const struct fit_job *job, struct fit_measurement *m, struct fit_error *err);

/* --each, instead of the phases below: every curve of a table by itself, each.csv and each.h5 (fit_each.c). */
enum fit_status fit_job_each(struct fit_job *job, struct fit_error *err);

/* `probe` leaves job->m NULL where the data are large. */
enum fit_status fit_job_load(struct fit_job *job, struct fit_error *err);
enum fit_status fit_job_minimise(struct fit_job *job, struct fit_error *err);
enum fit_status fit_job_study(struct fit_job *job, struct fit_error *err);
enum fit_status fit_job_sample(struct fit_job *job, struct fit_error *err);
enum fit_status fit_job_write(struct fit_job *job, struct fit_error *err);
enum fit_status fit_job_print(struct fit_job *job, struct fit_error *err);

/* Files of the previous fit that this one does not write: they are replaced together with the set (fit_earlier.c). */
enum fit_status fit_job_earlier(struct fit_job *job, struct fit_output *out, struct fit_error *err);
/* Are files of homodyne to be written? */
int fit_job_writes_cmc(const struct fit_job *job);

/* Notes on the interpretation of a finished fit: powers of t that the data cannot distinguish from constants,
 * differences from the answers of the Python packages, the effect of the scaling mode. */
void fit_job_note_result(struct fit_job *job);

/* --dry-run: the fit that would be made, and its output folder. */
void fit_job_print_dry_run(const struct fit_job *job);
