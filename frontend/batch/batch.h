/* batch.h -- the list of fits of `batch`. */
#ifndef HOMODYNE_BATCH_H
#define HOMODYNE_BATCH_H

#include "frontend/front.h"
#include "frontend/result.h"

struct batch_job {
    char *name, *file, *folder, *log; /* folder of the results; output of the fitter */
    double q;                         /* NaN: the configuration's */
    char key[65];                     /* changes when any input of the fit changes */
    int done;                         /* its result is there, of this key */
    int replaces;                     /* 1: a result of other settings, or of another run, is there */
    int code;                         /* exit status; -1: not run */
    long pid;                         /* of the process that runs it; else 0 */
    int ended;                        /* 1: in a process that goes on with others */
    double look; /* another command is working in its folder: time of the next check; 0: none was met */
    int claim;   /* descriptor of the claim while it runs; else -1 */
    int left;    /* 1: another part is running it, or has failed */
    double seconds, begin;
    struct front_result result;
    int has_result;
};

/* A process of the fitter that runs many fits (batch_many.c). */
struct batch_many {
    long pid; /* 0: none */
    int to, from;
    size_t n; /* characters of its output that are not read yet */
    char text[4096];
};

struct batch {
    struct fit_cli cli; /* the words as the fitter reads them */
    const char *config, *folder;
    char **option; /* for every fit */
    size_t noption;
    struct front_fitter fitter;
    char settings[65]; /* of all fits: program, configuration, options */
    unsigned made;              /* folders that batch_enter() has made */
    char here[FRONT_PATH + 64]; /* file that tells others of this command while it works; "": none */
    int here_fd;
    long jobs; /* at a time */
    int jobs_given, quiet;
    struct batch_many many;
    size_t part, nparts; /* share `part`, from 1, of nparts of the list; of 1: the whole list */
    int is_copy;         /* 1: a launcher has started several commands */
    int is_part;         /* 1: the list was divided before, by --part or in an array */
    size_t first, end;   /* our share: the jobs [first, end) */
    int again;           /* 1: also what is done */
    const char **names; /* of all jobs, in `room` places (batch_names.c) */
    size_t n, nother, room;
    struct batch_job *job, *other; /* other: of the same folder, not in this list (batch_others.c) */
};

/* From the command line to the list, including existing results. */
enum fit_status batch_make(struct front *f, const struct front_args *a, struct batch *b,
                           struct fit_error *err);
void batch_free(struct batch *b);

/* Its list (batch_files.c). The same file, or link, twice is one fit; a note says so. The second function refuses what
 * is no data file: names and patterns without a file, folders, configurations; of a share (--part) patterns alone,
 * because files may vanish while it waits. */
enum fit_status batch_files(struct front *f, const struct front_args *a, struct batch *b, struct fit_error *err);
enum fit_status batch_files_exist(const struct batch *b, struct fit_error *err);

/* Names, folders and logs of all fits; is there one of this name? */
enum fit_status batch_name(struct batch *b, struct fit_error *err);
int batch_has_name(const struct batch *b, const char *name);

/* The last value of an option of the fitters; NULL: it was not given. */
const char *batch_option(const struct batch *b, const char *name);

/* The words of a fit for its program. 0: no memory; free(w->word). */
struct batch_words {
    char q[40], threads[24], **word;
    size_t n;
};
int batch_words(const struct batch *b, const struct batch_job *job, struct batch_words *w);

/* Is there a fit that has to be done? */
int batch_has_work(const struct batch *b);

/* Before anything is made or changed: refuses configurations and options with which no fit can begin, once, with the
 * messages of the fitter (batch_check.c). */
enum fit_status batch_check(struct front *f, const struct batch *b, struct fit_error *err);

/* Does the result of the job exist, with this key? */
void batch_look(struct batch_job *job);

/* This process's share of the list: from --part, an array of SLURM, or the launcher of copies (batch_part.c). */
enum fit_status batch_part(const struct front_args *a, struct batch *b, struct fit_error *err);

/* Claims the fit until batch_release(), on all machines that see the folder. 0: another process has it. */
int batch_claim(struct batch_job *job);
void batch_release(struct batch_job *job);

/* The order in which job k = 0, 1, ... starts: the own share, then those of the others, the next one first. Returns
 * the index in the list. */
size_t batch_turn(const struct batch *b, size_t k);

/* 1: a job of another share has failed there, with the same settings: it is not tried again. */
int batch_has_failed(struct batch_job *job);

/* Are the fits of one process, for a device? begin: the process is there, and b->jobs is the number of fits that it
 * runs at a time. start: with the words of a program, ended by NULL. look: notes which fits have ended. stop: a
 * signal to the process, if there is one. wait: until a fit has ended, so many seconds at most. finish: waits for
 * the process; returns its exit code. */
int batch_many_wanted(const struct batch *b);
enum fit_status batch_many_begin(struct batch *b, struct fit_error *err);
void batch_many_start(struct batch *b, struct batch_job *job, char *const *word);
void batch_many_look(struct batch *b);
void batch_many_stop(const struct batch *b, int how);
void batch_many_wait(const struct batch *b, double seconds);
int batch_many_finish(struct batch *b);

/* A script for sbatch (batch_slurm.c). */
enum fit_status batch_slurm(const struct front *f, const struct front_args *a, struct batch *b, struct fit_error *err);

/* For other commands that write the table of the same folder: writes a row of a finished fit; reads their rows. */
enum fit_status batch_row_write(const struct batch_job *job, struct fit_error *err);
enum fit_status batch_others(struct batch *b, struct fit_error *err);
void batch_others_free(struct batch *b);

/* Two commands with other settings do not work in one folder at the same time: FIT_ERR_IO, with words, when there is
 * one already (batch_folder.c). batch_leave also without batch_enter. */
enum fit_status batch_enter(struct batch *b, struct fit_error *err);
/* Would it succeed? A folder that has to be made for that is removed again. */
enum fit_status batch_could_enter(struct batch *b, struct fit_error *err);
void batch_leave(struct batch *b);

/* Records that the job is done: the key goes into its folder. */
enum fit_status batch_remember(const struct batch_job *job, struct fit_error *err);

#endif
