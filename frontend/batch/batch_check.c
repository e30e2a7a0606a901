/* batch_check.c -- what is wrong for every fit of a list is told once, before anything is made or changed.
 *
 * The fitter itself looks: `probe` does for one data file what a fit does before its minimum (commands/program.h). A
 * configuration or an option that it refuses is refused for all files. When it finds the data file bad, or options that
 * do not suit it, the next one is tried; the list is refused when none is good. A list with finished fits of the same
 * settings needs no probe. */
#include "frontend/batch/batch.h"

#include "commands/program.h"
#include "common/text.h"

#include <stdlib.h>
#include <string.h>

int batch_has_work(const struct batch *b)
{
    for (size_t k = 0; k < b->n; k++)
        if (!b->job[k].done)
            return 1;
    return 0;
}

static int has_done(const struct batch *b)
{
    for (size_t k = 0; k < b->n; k++)
        if (b->job[k].done)
            return 1;
    return 0;
}

/* What the fitter says of a data file. */
struct answer {
    char *text;
    const char *errors; /* in text */
    int code, of_data;  /* of_data: nothing is wrong with configuration and options, or an error names the file */
};

static enum fit_status ask(const struct batch *b, const struct batch_job *j, struct answer *x, struct fit_error *err)
{
    struct batch_words words;
    if (!batch_words(b, j, &words))
        return fit_no_memory(err, NULL);
    char **all = front_words(&b->fitter, "probe", words.word, words.n);
    const enum fit_status st =
        all ? front_capture(b->fitter.program, all, &x->text, &x->code, err) : fit_no_memory(err, NULL);
    free(all);
    free(words.word);
    x->errors = x->text ? x->text : "";
    const size_t n = strlen(FIT_PROBE_GOOD);
    const int good = strncmp(x->errors, FIT_PROBE_GOOD, n) == 0;
    if (good)
        x->errors += n + strspn(x->errors + n, "\n");
    x->of_data = good || strstr(x->errors, text_file_name(j->file));
    return st;
}

static enum fit_status status_of(int code)
{
    static const enum fit_status known[] = {FIT_ERR_CONFIG, FIT_ERR_IO, FIT_ERR_INTERRUPTED};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (code == fit_status_exit(known[k]))
            return known[k];
    return FIT_ERR_INTERNAL;
}

static enum fit_status refuse(struct front *f, const struct batch *b, const struct answer *x, struct fit_error *err)
{
    const enum fit_status st = status_of(x->code);
    if (st == FIT_ERR_INTERRUPTED)
        return fit_fail(err, st, "batch: stopped before the first fit");
    fputs(x->errors, f->err);
    if (x->code > 128)
        return fit_fail(err, st, "%s: ended by signal %d before the first fit", b->fitter.program, x->code - 128);
    if (!x->of_data)
        return fit_fail(err, st, "batch: this holds for every fit; none was begun and nothing was changed");
    return b->n > 1 ? fit_fail(err, st,
                               "batch: this is said of the first data file, and each of the %zu fits is refused; none"
                               " was begun and nothing was changed", b->n)
                    : fit_fail(err, st, "batch: the only fit is refused; nothing was changed");
}

/* May another data file do? */
static int is_of_data(const struct answer *x)
{
    return x->of_data && (x->code == fit_status_exit(FIT_ERR_CONFIG) || x->code == fit_status_exit(FIT_ERR_IO));
}

enum fit_status batch_check(struct front *f, const struct batch *b, struct fit_error *err)
{
    struct answer first = {0};
    enum fit_status st = FIT_OK;
    int good = has_done(b);
    for (size_t k = 0; k < b->n && st == FIT_OK && !good; k++) {
        struct answer x = {.code = fit_status_exit(FIT_ERR_INTERRUPTED)};
        if (!*f->interrupt)
            st = ask(b, &b->job[batch_turn(b, k)], &x, err);
        good = st == FIT_OK && (x.code == 0 || (x.of_data && x.code == fit_status_exit(FIT_ERR_INTERNAL)));
        if (st == FIT_OK && !good && !is_of_data(&x))
            st = refuse(f, b, &x, err);
        if (!k)
            first = x;
        else
            free(x.text);
    }
    if (st == FIT_OK && !good)
        st = refuse(f, b, &first, err);
    free(first.text);
    return st;
}
