/* cmd_batch.c -- `batch`: many fits, several at a time, and one table.
 *
 * Each fit is a process of its own, so that a failure of one does not affect the others; with --device, one process
 * runs all of them (batch_many.c). The table is rewritten
 * while fits end: it can be read at any time, and nothing is lost when the command is stopped. The first Ctrl-C asks
 * the current fits to stop and writes the table; started again with the same words, the command runs only the
 * missing fits. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"
#include "frontend/batch/series.h"
#include "frontend/view.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/output.h"
#include "machine/topology.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double BETWEEN_LOOKS = 1, PATIENCE = 60; /* s */

struct tally {
    size_t done, converged, unconverged, failed, running, old, here; /* here: by this command */
    double seconds; /* of the fits of this run */
};

static struct tally count(const struct batch *b)
{
    struct tally t = {0};
    for (size_t k = 0; k < b->n; k++) {
        const struct batch_job *j = &b->job[k];
        t.running += j->pid != 0;
        if (j->code < 0 || j->ended || j->code == FRONT_STOPPED)
            continue;
        t.done++;
        t.old += (size_t)(j->done != 0);
        t.here += (size_t)(j->seconds > 0 && j->code <= 128); /* more: a signal */
        t.converged += j->code == 0;
        t.unconverged += j->code == 2;
        t.failed += j->code != 0 && j->code != 2;
        t.seconds += j->done ? 0 : j->seconds;
    }
    return t;
}

/* ---- one fit --------------------------------------------------------------------------------- */

static enum fit_status start(struct batch *b, struct batch_job *j, struct fit_error *err)
{
    const int many = batch_many_wanted(b);
    struct batch_words words;
    struct fit_output folder;
    enum fit_status st = many ? batch_many_begin(b, err) : FIT_OK;
    if (st == FIT_OK)
        st = fit_output_begin(&folder, j->folder, err); /* makes it */
    if (st != FIT_OK)
        return st;
    fit_output_abandon(&folder);
    unlink(j->log);
    if (!batch_words(b, j, &words))
        return fit_no_memory(err, NULL);
    struct front_fitter fitter = b->fitter;
    if (many)
        fitter.kernel[0] = '\0'; /* the process has it */
    char **all = front_words(&fitter, "fit", words.word, words.n);
    if (!all)
        st = fit_no_memory(err, NULL);
    else if (many)
        batch_many_start(b, j, all);
    else
        st = front_start(b->fitter.program, all, j->log, &j->pid, err);
    j->begin = fit_seconds();
    free(all);
    free(words.word);
    return st;
}

static const char *quality_of(const struct batch_job *j)
{
    return j->has_result && j->result.quality[0] ? j->result.quality : "unknown";
}

static void print_job(FILE *f, const struct batch *b, const struct batch_job *j)
{
    const struct tally t = count(b);
    char text[400];
    fprintf(f, "[%zu/%zu] %s: ", t.done, b->n, j->name);
    if (!j->has_result) {
        front_last_error(j->log, j->code, text, sizeof text);
        fprintf(f, "FAILED: %s\n", text);
        return;
    }
    fprintf(f, "%s, %s", j->code == 0 ? "converged" : "NOT CONVERGED", quality_of(j));
    if (!isnan(j->result.reduced_chi2)) /* the noise is known */
        fprintf(f, ", chi2/dof %.4g", j->result.reduced_chi2);
    for (size_t k = 0; k < j->result.nparam && k < 2; k++) {
        const struct front_param *p = &j->result.param[k];
        if (p->physical && p->undetermined)
            fprintf(f, ", %s UNDETERMINED", p->name);
        else if (p->physical)
            fprintf(f, ", %s %.5g%s", p->name, p->value, p->at_bound ? " (at its bound)" : p->fixed ? " (held)" : "");
    }
    fprintf(f, ", %.1f s\n", j->seconds);
}

/* Another command has started with the folder between our check and the fit. */
static int was_refused(const struct batch_job *j)
{
    char text[400] = "";
    if (j->code == fit_status_exit(FIT_ERR_IO))
        front_last_error(j->log, j->code, text, sizeof text);
    return strstr(text, "another run is at work") != NULL;
}

/* The fit ended well, but its result is not there: a failure of the program. */
static void lost_result(struct batch_job *j, const struct fit_error *why)
{
    FILE *log = fopen(j->log, "a");
    if (log) {
        fprintf(log, "homodyne: error: the fit ended with exit code %d and has no result: %s\n", j->code,
                why->message);
        fclose(log);
    }
    j->code = fit_status_exit(FIT_ERR_INTERNAL);
}

/* Reads the result of a finished fit. */
static enum fit_status finish(struct batch_job *j, struct fit_error *err)
{
    struct fit_error why;
    const int ended = j->code == 0 || j->code == 2;
    j->pid = 0;
    j->ended = 0;
    j->seconds = fit_seconds() - j->begin;
    if (was_refused(j)) {
        j->code = -1;
        j->look = fit_seconds() + BETWEEN_LOOKS;
        batch_release(j);
        return FIT_OK;
    }
    if (j->has_result)
        front_result_free(&j->result);
    j->has_result = ended && front_result_read(j->folder, &j->result, &why) == FIT_OK;
    if (ended && !j->has_result)
        lost_result(j, &why);
    enum fit_status st = j->has_result ? batch_remember(j, err) : FIT_OK;
    if (st == FIT_OK)
        st = batch_row_write(j, err);
    batch_release(j);
    return st;
}

/* Another command is working in its folder: a part leaves the fit to it, the whole waits for it. */
static int leave(const struct batch *b, struct batch_job *j)
{
    j->left = b->nparts > 1;
    j->look = fit_seconds() + BETWEEN_LOOKS;
    return 0;
}

/* May job k start? Then it is claimed. Results of other commands since the last check are taken over. */
static int is_ready(struct batch *b, size_t k)
{
    struct batch_job *j = &b->job[k];
    if (j->done || j->pid || j->left || j->code >= 0 || fit_seconds() < j->look)
        return 0;
    const int theirs = k < b->first || k >= b->end;
    if (fit_lock_is_held(j->folder) || !batch_claim(j))
        return leave(b, j);
    if (!b->again)
        batch_look(j);
    j->left = !j->done && theirs && (b->again || batch_has_failed(j));
    if (!j->done && !j->left)
        return 1;
    batch_release(j);
    return 0;
}

/* ---- all fits -------------------------------------------------------------------------------- */

static struct front_row row_of(const struct batch_job *j)
{
    return (struct front_row){j->name, j->file, j->q, j->code, j->has_result ? &j->result : NULL};
}

/* Other commands may write the same table: one process at a time reads their rows and writes its own. */
static enum fit_status write_table(struct batch *b, struct fit_error *err)
{
    struct fit_lock lock = FIT_LOCK_NONE;
    enum fit_status st = fit_lock_wait(&lock, b->folder, "homodyne batch", PATIENCE, err);
    if (st == FIT_OK)
        st = batch_others(b, err);
    struct front_row *row = calloc(b->n + b->nother + 1, sizeof *row);
    if (st == FIT_OK && !row)
        st = fit_no_memory(err, NULL);
    for (size_t k = 0; st == FIT_OK && k < b->n + b->nother; k++)
        row[k] = row_of(k < b->n ? &b->job[k] : &b->other[k - b->n]);
    if (st == FIT_OK)
        st = front_series_write(b->folder, row, b->n + b->nother, err);
    fit_lock_release(&lock);
    free(row);
    return st;
}

static void show(struct front_view *v, const struct batch *b, double begin)
{
    const struct tally t = count(b);
    char left[32] = "", bad[64] = "";
    const size_t fresh = t.done - t.old;
    if (fresh) {
        const double rate = (fit_seconds() - begin) / (double)fresh;
        front_duration(rate * (double)(b->n - t.done), left, sizeof left);
    }
    if (t.failed + t.unconverged)
        snprintf(bad, sizeof bad, "  %zu not converged, %zu failed", t.unconverged, t.failed);
    front_view_show(v, "batch  %zu of %zu done  %zu at work%s%s%s%s", t.done, b->n, t.running, bad,
                    *left ? "  " : "", left, *left ? " left" : "");
}

/* Starts fits until there are enough. */
static enum fit_status fill(struct batch *b, struct fit_error *err)
{
    size_t running = count(b).running;
    const size_t others = batch_many_wanted(b) ? (size_t)fit_topology_threads() : (size_t)b->jobs;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; st == FIT_OK && k < b->n && running < (size_t)b->jobs; k++) {
        const size_t at = batch_turn(b, k);
        const int theirs = at < b->first || at >= b->end;
        if ((theirs && running >= others) || !is_ready(b, at)) /* of the share of another card few at a time */
            continue;
        st = start(b, &b->job[at], err);
        running++;
    }
    return st;
}

/* Is there nothing left that this command may start or must wait for? */
static int is_through(const struct batch *b)
{
    for (size_t k = 0; k < b->n; k++)
        if (b->job[k].code < 0 && !b->job[k].left)
            return 0;
    return 1;
}

static void stop_all(const struct batch *b, int how)
{
    batch_many_stop(b, how);
    for (size_t k = 0; k < b->n; k++)
        if (b->job[k].pid && b->job[k].pid != b->many.pid)
            kill((pid_t)b->job[k].pid, how);
}

/* After an error: asks running fits to stop and waits for them, so that nothing is written after the end of this
 * program. */
static void end_all(struct batch *b)
{
    struct fit_error ignored;
    stop_all(b, SIGINT);
    batch_many_finish(b);
    for (size_t k = 0; k < b->n && !batch_many_wanted(b); k++)
        if (b->job[k].pid)
            front_wait(b->job[k].pid, &b->job[k].code, &ignored);
}

static int has_ended(const struct batch *b, struct batch_job *j)
{
    return j->pid && (batch_many_wanted(b) ? j->ended : front_ended(j->pid, &j->code));
}

/* Finished fits: their results, one line each; the table from time to time. */
static enum fit_status take_ended(struct front *f, struct batch *b, struct front_view *v, int quiet, double *written,
                                  struct fit_error *err)
{
    static const double between = 2; /* s from table to table */
    enum fit_status st = FIT_OK;
    batch_many_look(b);
    for (size_t k = 0; k < b->n && st == FIT_OK; k++) {
        struct batch_job *j = &b->job[k];
        if (!has_ended(b, j))
            continue;
        st = finish(j, err);
        front_view_clear(v);
        if (j->code > 0 || (!quiet && j->code == 0)) /* what failed is told with --quiet, too */
            print_job(f->err, b, j);
        if (st == FIT_OK && b->nparts == 1 && fit_seconds() - *written > between) { /* parts: once, at the end */
            st = write_table(b, err);
            *written = fit_seconds();
        }
    }
    return st;
}

static enum fit_status run_all(struct front *f, struct batch *b, int quiet, struct fit_error *err)
{
    double written = 0;
    struct front_view v = front_view_begin(f, quiet);
    const double begin = fit_seconds();
    int told = 0;
    enum fit_status st = b->nparts == 1 ? write_table(b, err) : FIT_OK;
    while (st == FIT_OK) {
        if (!*f->interrupt)
            st = fill(b, err);
        else if (told < *f->interrupt) /* once: please; twice: now */
            stop_all(b, (told = (int)*f->interrupt) > 1 ? SIGKILL : SIGINT);
        const size_t running = count(b).running;
        if (st == FIT_OK)
            st = take_ended(f, b, &v, quiet, &written, err);
        if (!running && (is_through(b) || *f->interrupt))
            break;
        show(&v, b, begin);
        batch_many_wait(b, 0.02);
    }
    front_view_clear(&v);
    for (size_t k = 0; st == FIT_OK && k < b->n; k++) /* what the others have done meanwhile */
        if (b->job[k].left && b->job[k].code < 0 && !b->again)
            batch_look(&b->job[k]);
    if (st == FIT_OK)
        batch_many_finish(b);
    else
        end_all(b);
    return st == FIT_OK ? write_table(b, err) : st;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void list(FILE *f, const struct batch *b)
{
    for (size_t k = b->first; k < b->end; k++) {
        char q[40] = "";
        if (!isnan(b->job[k].q))
            snprintf(q, sizeof q, "  q %.6g", b->job[k].q);
        fprintf(f, "%-30s %s%s%s\n", b->job[k].name, b->job[k].file, q,
                b->job[k].done ? "  (done)" : "");
    }
}

static int worst(const struct batch *b)
{
    static const int order[] = {0, 2, 4, 3, 1, FRONT_STOPPED};
    size_t rank = 0;
    for (size_t k = 0; k < b->n; k++) {
        size_t r = 0;
        while (r < 5 && b->job[k].code != order[r])
            r++;
        r = b->job[k].code < 0 ? 0 : r == 5 && b->job[k].code != FRONT_STOPPED ? 4 : r;
        rank = r > rank ? r : rank;
    }
    return order[rank];
}

/* Number of results of each quality: done(user, word, n), in the order of first occurrence. */
static void qualities(const struct batch *b, void (*done)(void *, const char *, size_t), void *user)
{
    for (size_t k = 0; k < b->n; k++) {
        size_t n = 0, before = 0;
        for (size_t i = 0; i < b->n; i++) {
            const int same = b->job[i].has_result && strcmp(quality_of(&b->job[i]), quality_of(&b->job[k])) == 0;
            n += (size_t)same;
            before += (size_t)(same && i < k);
        }
        if (b->job[k].has_result && !before)
            done(user, quality_of(&b->job[k]), n);
    }
}

static void put_quality(void *user, const char *word, size_t n)
{
    fit_json_integer(user, word, (int64_t)n);
}

struct words {
    FILE *f;
    const char *before;
};

static void print_quality(void *user, const char *word, size_t n)
{
    struct words *w = user;
    fprintf(w->f, "%s%zu %s", w->before, n, word);
    w->before = ", ";
}

static void summary(struct front *f, const struct batch *b, const struct front_args *a)
{
    const struct tally t = count(b);
    if (a->json) {
        struct fit_json j = {0};
        fit_json_begin(&j, NULL, '{');
        fit_json_integer(&j, "fits", (int64_t)b->n);
        fit_json_integer(&j, "converged", (int64_t)t.converged);
        fit_json_integer(&j, "not_converged", (int64_t)t.unconverged);
        fit_json_integer(&j, "failed", (int64_t)t.failed);
        fit_json_integer(&j, "left", (int64_t)(b->n - t.done));
        fit_json_integer(&j, "done_before", (int64_t)t.old);
        fit_json_integer(&j, "done_here", (int64_t)t.here);
        fit_json_begin(&j, "quality", '{');
        qualities(b, put_quality, &j);
        fit_json_end(&j);
        fit_json_string(&j, "folder", b->folder);
        fit_json_end(&j);
        fprintf(f->out, "%s\n", fit_json_text(&j) ? fit_json_text(&j) : "{}");
        fit_json_free(&j);
    } else if (!a->quiet) {
        if (b->nparts > 1)
            fprintf(f->out, "part %zu of %zu, %zu fits done here. ", b->part, b->nparts, t.here);
        fprintf(f->out, "%zu fits: %zu converged, %zu not, %zu failed", b->n, t.converged,
                t.unconverged, t.failed);
        if (t.done < b->n)
            fprintf(f->out, ", %zu left", b->n - t.done);
        if (t.old)
            fprintf(f->out, "; %zu were done before", t.old);
        struct words w = {f->out, "; quality: "};
        qualities(b, print_quality, &w);
        fprintf(f->out, "\n-> %s/series.csv, %s/series.h5\n", b->folder, b->folder);
    }
}

/* Results of other settings are replaced: told also with --quiet, since the folder may be the wrong one. */
static void tell_replaced(struct front *f, const struct batch *b)
{
    size_t n = 0;
    for (size_t k = 0; k < b->n && !b->again; k++)
        n += (size_t)(b->job[k].replaces != 0);
    if (n)
        fprintf(f->err,
                "%s: note: %s: %zu of %zu fits there have other settings, data or programs, or were replaced by another"
                " run; they are done again\n",
                f->name, b->folder, n, b->n);
}

enum fit_status front_cmd_batch(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct batch b;
    enum fit_status st = batch_make(f, a, &b, err);
    const int lists = st == FIT_OK && option_given(&a->own, "list");
    if (st == FIT_OK && !lists)
        st = batch_check(f, &b, err);
    if (st == FIT_OK && (lists || b.cli.dry_run)) {
        list(f->out, &b);
        goto done;
    }
    if (st == FIT_OK && option_given(&a->own, "slurm")) {
        st = batch_slurm(f, a, &b, err);
        goto done;
    }
    if (st == FIT_OK && batch_many_wanted(&b) && batch_has_work(&b)) /* is there such a device? */
        st = batch_many_begin(&b, err);
    if (st == FIT_OK)
        st = batch_enter(&b, err);
    if (st == FIT_OK)
        tell_replaced(f, &b);
    if (st == FIT_OK)
        st = run_all(f, &b, b.quiet, err);
    batch_leave(&b);
    if (st == FIT_OK) {
        summary(f, &b, a);
        /* launchers end all copies when one of them returns another code, while others have fits to end */
        f->exit_code = *f->interrupt ? fit_status_exit(FIT_ERR_INTERRUPTED) : b.is_copy ? 0 : worst(&b);
    }
done:
    batch_many_finish(&b);
    batch_free(&b);
    return st;
}
