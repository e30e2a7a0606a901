/* batch_part.c -- several commands share one list of fits: elements of an array, copies of srun, machines.
 *
 * Each begins with its own share and then takes fits that the others have not started: none is idle while another
 * has much left, and all fits are done even if one command never starts. A fit is claimed before it starts, by a
 * lock on a file in its folder. The lock ends with the process that holds it, so the claims of a killed process are
 * free again. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"

#include "base/output.h"
#include "ranks/copies.h"
#include "common/unique.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which share --------------------------------------------------------------------------------------------- */

/* "2/8" */
static enum fit_status parse(const char *text, struct batch *b, struct fit_error *err)
{
    char *end;
    const long part = strtol(text, &end, 10), n = *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*end || n < 1 || n > 1000000 || part < 1 || part > n)
        return fit_fail(err, FIT_ERR_USAGE, "--part: '%s' is not a share K/N of the list, such as 2/8, with K from 1 "
                                            "to N", text);
    b->part = (size_t)part;
    b->nparts = (size_t)n;
    return FIT_OK;
}

enum fit_status batch_part(const struct front_args *a, struct batch *b, struct fit_error *err)
{
    const char *text = option_value(&a->own, "part"), *told;
    long rank;
    enum fit_status st = FIT_OK;
    if (text)
        st = parse(text, b, err);
    else
        fit_copies_part(&b->part, &b->nparts);
    const long n = fit_copies(&rank, &told);
    b->is_copy = !text && n > 1;
    b->is_part = text || b->nparts > (size_t)n;
    if (st != FIT_OK)
        return st;
    b->first = b->n * (b->part - 1) / b->nparts;
    b->end = b->n * b->part / b->nparts;
    if (b->nparts > 1)
        fit_copies_divide();
    return FIT_OK;
}

size_t batch_turn(const struct batch *b, size_t k)
{
    return (b->first + k) % b->n;
}

/* ---- claims -------------------------------------------------------------------------------------------------- */

static const char CLAIM[] = ".batch.claim";

static void path_of(const struct batch_job *j, char path[FRONT_PATH])
{
    snprintf(path, FRONT_PATH, "%.*s/%s", FRONT_PATH - 32, j->folder, CLAIM);
}

int batch_claim(struct batch_job *j)
{
    char path[FRONT_PATH];
    struct fit_error ignored;
    unsigned made;
    int locked; /* 0: the file system has no locks; the lock of the output folder reports that */
    if (fit_output_folder(j->folder, &made, &ignored) != FIT_OK)
        return 1; /* the fit says why */
    path_of(j, path);
    j->claim = unique_claim(path, 0600, &locked);
    return j->claim >= 0;
}

void batch_release(struct batch_job *j)
{
    char path[FRONT_PATH];
    if (j->claim < 0)
        return;
    path_of(j, path);
    unlink(path); /* while it is ours */
    close(j->claim);
    j->claim = -1;
}
