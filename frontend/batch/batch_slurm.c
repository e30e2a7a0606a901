/* batch_slurm.c -- a script for sbatch: an array whose elements share the fits of one `batch`.
 *
 * A fit takes 0.05 to 1 s, and the start of an element takes as long. So an element has many fits, about ten minutes
 * of them. Before its time limit it receives a signal, ends the current fits, and is put back into the queue;
 * finished fits are not repeated. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double WANTED = 600, GUESS = 1; /* s: of an element; of a fit, when none is finished */
enum { CORES = 4, MOST_ELEMENTS = 1000, MEGABYTES = 1000, AGAIN = 20 };

/* Seconds of a fit: the median of the finished ones. */
static double seconds_of_fit(const struct batch *b, size_t *done)
{
    double *s = malloc((b->n + 1) * sizeof *s), median = GUESS;
    *done = 0;
    for (size_t k = 0; s && k < b->n; k++) {
        const struct batch_job *j = &b->job[k];
        if (!j->has_result || !(j->result.wall_seconds > 0))
            continue;
        size_t at = (*done)++;
        for (; at > 0 && s[at - 1] > j->result.wall_seconds; at--)
            s[at] = s[at - 1];
        s[at] = j->result.wall_seconds;
    }
    if (s && *done)
        median = s[*done / 2];
    free(s);
    return median;
}

/* A quoted word for the shell. */
static void put_word(FILE *f, const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-%@";
    if (*word && strspn(word, PLAIN) == strlen(word)) {
        fprintf(f, " %s", word);
        return;
    }
    fputs(" '", f);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", f);
        else
            fputc(*word, f);
    fputc('\'', f);
}

/* The same command for an element of the array. */
static void put_command(FILE *f, const struct front *front, const struct front_args *a, const struct batch *b,
                        size_t elements, long cores)
{
    char program[FRONT_PATH + 16];
    snprintf(program, sizeof program, "%s/%s", front->dir, front->name);
    fputs("srun", f);
    put_word(f, program);
    fputs(" batch", f);
    static const char *const passed[] = {"q", "model"};
    for (size_t k = 0; k < sizeof passed / sizeof *passed; k++)
        if (option_value(&a->own, passed[k])) {
            fprintf(f, " --%s", passed[k]);
            put_word(f, option_value(&a->own, passed[k]));
        }
    fputs(" --output-dir", f);
    put_word(f, b->folder);
    if (!batch_many_wanted(b) || b->jobs_given)
        fprintf(f, " --jobs %ld", cores);
    fprintf(f, " --part \"$SLURM_ARRAY_TASK_ID/%zu\"", elements);
    for (size_t k = 0; k < a->nrest; k++) /* may contain "--" */
        put_word(f, a->rest[k]);
    fputc('\n', f);
}

static enum fit_status choose_elements(const struct front_args *a, const struct batch *b, long cores, size_t *elements,
                                       struct fit_error *err)
{
    size_t done;
    const double work = seconds_of_fit(b, &done) * (double)b->n / (double)cores;
    long n = (long)fmin(fmax(ceil(work / WANTED), 1), MOST_ELEMENTS);
    n = (size_t)n < b->n ? n : (long)b->n;
    enum fit_status st = front_count(a, "slurm", 1, &n, err);
    if (st == FIT_OK && (size_t)n > b->n)
        st = fit_fail(err, FIT_ERR_USAGE, "--slurm=%ld: the list has %zu fits; an element has at least one", n, b->n);
    *elements = (size_t)n;
    return st;
}

/* Does --device name a graphics card, or several? */
static int wants_card(const struct batch *b)
{
    const char *word = b->cli.device ? b->cli.device : "cpu";
    return strcmp(word, "gpu") == 0 || strcmp(word, "auto") == 0 || strncmp(word, "cuda", 4) == 0;
}

/* What the user should know of the script, and would otherwise learn from SLURM, or never. */
static void tell(const struct front *f, const struct batch *b, size_t elements)
{
    if (b->quiet)
        return;
    if (!batch_has_work(b))
        fprintf(f->err, "%s: note: all %zu fits are done; the script finds nothing to do\n", f->name, b->n);
    if (elements > MOST_ELEMENTS)
        fprintf(f->err,
                "%s: note: SLURM accepts arrays of up to %d elements unless your centre has set another MaxArraySize"
                " (scontrol show config); fewer elements have more fits each\n",
                f->name, MOST_ELEMENTS);
}

/* The resources that the script requests from SLURM. */
static void put_head(FILE *f, const struct batch *b, size_t elements, long cores)
{
    size_t done;
    const double seconds = seconds_of_fit(b, &done),
                 each = ceil((double)b->n / (double)elements / (double)cores) * seconds;
    const long minutes = 5 * (long)ceil((2 * each + 300) / 300);
    fprintf(f,
            "#!/bin/bash\n"
            "# %zu fits, %zu element%s of some %.0f s: %s %.2g s for a fit%s.\n"
            "# Each element begins with its share and then takes what the others have not begun. When all have ended,\n"
            "# the same command without --part collects the table, and fits what may be missing.\n",
            b->n, elements, elements == 1 ? "" : "s", each, done ? "the median is" : "assumed are", seconds,
            done ? "" : " (none is done yet)");
    fprintf(f,
            "#SBATCH --job-name=homodyne-batch\n"
            "#SBATCH --array=1-%zu\n"
            "#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=%ld\n"
            "#SBATCH --mem=%ldM\n"
            "#SBATCH --time=%ld:%02ld:00\n"
            "#SBATCH --signal=TERM@60\n"
            "#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n",
            elements, cores, MEGABYTES * (cores > 1 ? cores : 2), minutes / 60, minutes % 60);
    fputs(wants_card(b) ? "#SBATCH --gres=gpu:1\n\n" : "\n", f);
}

static void put_end(FILE *f)
{
    fprintf(f,
            "code=$?\n"
            "# told to stop before the limit of time: back into the queue\n"
            "if [ $code = 130 ] && [ \"${SLURM_RESTART_COUNT:-0}\" -lt %d ]; then\n"
            "    scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
            "    sleep 60\n"
            "fi\n"
            "exit $code\n",
            AGAIN);
}

enum fit_status batch_slurm(const struct front *f, const struct front_args *a, struct batch *b, struct fit_error *err)
{
    size_t elements;
    char here[FRONT_PATH];
    const long cores = option_given(&a->own, "jobs") ? b->jobs : CORES;
    if (option_given(&a->own, "part"))
        return fit_fail(err, FIT_ERR_USAGE, "--part and --slurm exclude each other: the script is for all parts");
    if (option_given(&a->own, "again"))
        return fit_fail(err, FIT_ERR_USAGE, "--again: an element that is put back into the queue would begin anew;"
                                            " remove the output folder, or name another one");
    enum fit_status st = choose_elements(a, b, cores, &elements, err);
    if (st == FIT_OK)
        st = batch_could_enter(b, err);
    if (st != FIT_OK)
        return st;
    if (!getcwd(here, sizeof here))
        return fit_fail(err, FIT_ERR_IO, "--slurm: the current folder has no path");
    tell(f, b, elements);
    put_head(f->out, b, elements, cores);
    fputs("cd", f->out);
    put_word(f->out, here);
    fputs(" || exit 1\n", f->out);
    put_command(f->out, f, a, b, elements, cores);
    put_end(f->out);
    return FIT_OK;
}
