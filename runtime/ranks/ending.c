/* ending.c -- the end of a program whose copies may be ranks. See ending.h.
 *
 * Ranks that have met agree on who tells an error, and end together. One that fails alone, while others are at work,
 * tells it and ends all. Copies that have not met cannot agree: copies.h says who tells it, by the variables of the
 * launcher. Whoever may differ from the others names rank and host. */
#include "ranks/ending.h"

#include "ranks/copies.h"
#include "ranks/ranks.h"

#include <string.h>

static void tell(const char *name, FILE *to, const struct fit_error *err, const char *where)
{
    fprintf(to, "%s: %s%s%s%s\n", name, fit_error_word(err), where, *where ? ": " : "", err->message);
    fflush(to);
}

int fit_ending(const char *name, FILE *to, enum fit_status st, const struct fit_error *err, int code, int is_fit)
{
    const enum fit_ranks_last last = fit_ranks_end(st);
    const int alone = last == FIT_RANKS_ALONE;
    char where[FIT_RANKS_WHERE] = "";
    code = st == FIT_OK ? code : fit_status_exit(st);
    if (last == FIT_RANKS_LOST)
        fit_ranks_where(fit_ranks_rank(), where);
    if (alone && is_fit)
        fit_copies_where(where);
    if (st != FIT_OK && last != FIT_RANKS_SILENT && !(alone && fit_copies_spoken_for(is_fit)))
        tell(name, to, err, where);
    if (last == FIT_RANKS_LOST)
        fit_ranks_abort(code);
    else
        fit_ranks_leave();
    if (st != FIT_OK && alone && is_fit)
        fit_copies_leave(code);
    return code;
}
