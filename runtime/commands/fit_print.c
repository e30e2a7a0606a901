/* fit_print.c -- the final output of the command `fit`: one screen, or JSON, and those notes that the last fit into
 * the same folder did not have. */
#define _POSIX_C_SOURCE 200809L
#include "commands/fit_job.h"

#include "base/terminal_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int says(const struct fit_yaml *node, const char *text)
{
    return node && node->kind == FIT_YAML_SCALAR && strcmp(node->text, text) == 0;
}

/* Did the last fit have the same note, about the same data? */
static int is_told(const struct fit_job *job, const char *note)
{
    const struct fit_yaml *root = job->last ? fit_yaml_root(job->last) : NULL, *notes = fit_yaml_get(root, "notes");
    int told = 0;
    if (says(fit_yaml_get(fit_yaml_get(root, "data"), "sha256"), job->m->sha256))
        for (size_t i = 0; notes && i < notes->n; i++)
            told |= says(notes->entry[i].value, note);
    return told;
}

/* The screen shows new notes, and all that question the data; summary.txt, fit.json and run.log contain every one. */
static void print_notes(const struct fit_job *job)
{
    enum { MOST = 8 };
    size_t printed = 0, same = 0, left = 0;
    for (size_t k = 0; k < job->notes.n; k++) {
        if (k >= job->notes.ndoubt && !job->cli->verbose && is_told(job, job->notes.text[k]))
            same++;
        else if (job->cli->verbose || printed < MOST)
            printed++, fit_cli_put_note(job->p->err, job->p->err_is_terminal, job->notes.text[k]);
        else
            left++;
    }
    if (left)
        fprintf(job->p->err, "note: %zu more in %s/run.log\n", left, job->folder);
    if (same)
        fprintf(job->p->err, "%zu note%s unchanged since the last fit: %s/run.log\n", same, same == 1 ? "" : "s",
                job->folder);
}

/* What happened to the previous fit: irrelevant to later readers of the results. */
static void print_earlier(struct fit_job *job)
{
    char *save = NULL;
    for (char *line = strtok_r(job->earlier, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        fit_cli_put_note(job->p->err, job->p->err_is_terminal, line);
}

static void write_screen(const struct fit_job *job, FILE *f)
{
    fit_write_summary(&job->r, f);
    fit_study_summary(&job->r, f);
    fit_write_posterior_summary(&job->r, f);
}

enum fit_status fit_job_print(struct fit_job *job, struct fit_error *err)
{
    FILE *f = job->p->out;
    if (job->cli->json) {
        char *text = fit_write_json(&job->r);
        if (!text)
            return fit_no_memory(err, NULL);
        fputs(text, f);
        free(text);
        return FIT_OK;
    }
    if (job->cli->quiet)
        return FIT_OK;
    print_notes(job);
    print_earlier(job);
    fflush(job->p->err);
    if (!job->p->out_is_terminal) {
        write_screen(job, f);
        return FIT_OK;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *screen = open_memstream(&text, &size);
    if (!screen)
        return fit_no_memory(err, NULL);
    write_screen(job, screen);
    const int whole = fclose(screen) == 0;
    if (whole)
        fit_put_screen(f, text, fit_locale_is_utf8(), fit_colours_wanted());
    free(text);
    return whole ? FIT_OK : fit_no_memory(err, NULL);
}

void fit_job_print_dry_run(const struct fit_job *job)
{
    const struct fit_measurement *m = job->m;
    for (size_t k = 0; k < job->notes.n; k++)
        fit_cli_put_note(job->p->err, job->p->err_is_terminal, job->notes.text[k]);
    for (size_t f = 0; f < m->nfile; f++) {
        const struct fit_measurement_file *x = &m->part[f];
        fprintf(job->p->out, "%s: %zu groups, frames %ld..%ld, dt %g s, %zu points\n", x->file, x->ngroup, x->first,
                x->last, x->dt, x->npoint);
    }
    if (m->nfile)
        fprintf(job->p->out, "%zu files: %zu points; would be written to %s\n", m->nfile, m->dataset->npoint,
                job->folder);
    else
        fprintf(job->p->out, "%s: %zu groups, frames %ld..%ld, dt %g s, %zu points; would be written to %s\n", m->file,
                m->ngroup, m->first, m->last, m->dt, m->dataset->npoint, job->folder);
}
