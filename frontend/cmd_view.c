/* cmd_view.c -- `view`: homodyne-view, a program of its own, since it alone needs libmicrohttpd. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fit_status front_viewer(const struct front *f, char *path, size_t size, struct fit_error *err)
{
    snprintf(path, size, "%s/homodyne-view", f->dir);
    if (access(path, X_OK) == 0)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE,
                    "view: this installation has no homodyne-view, for it was built without libmicrohttpd; install it "
                    "(Debian: apt-get install libmicrohttpd-dev) and build again, or see `homodyne report`");
}

enum fit_status front_cmd_view(struct front *f, const struct front_args *a, struct fit_error *err)
{
    char path[FRONT_PATH + 32];
    enum fit_status st = front_viewer(f, path, sizeof path, err);
    if (st == FIT_OK && a->nrest == 0)
        st = fit_fail(err, FIT_ERR_USAGE,
                      "view: nothing is named; give a data file, a configuration or the folder of a fit");
    char **word = calloc(2 * a->own.ngiven + a->nrest + 2, sizeof *word);
    char(*name)[32] = calloc(a->own.ngiven + 1, sizeof *name);
    size_t n = 0;
    if (st == FIT_OK && (!word || !name))
        st = fit_no_memory(err, "view");
    if (st == FIT_OK) {
        word[n++] = path;
        n += front_put_own(a, name, word + n);
        for (size_t k = 0; k < a->nrest; k++)
            word[n++] = a->rest[k];
        st = front_exec(path, word, err);
    }
    free(name);
    free(word);
    return st;
}
