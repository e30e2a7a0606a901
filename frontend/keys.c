/* keys.c -- `config --keys [TEXT]`: every key that a configuration may have, and its effect. */
#include "frontend/front.h"

#include "config/config.h"

#include <string.h>

/* Breaks lines at `width`; each begins with four blanks. */
static void put_wrapped(FILE *out, const char *text, size_t width)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column && column + 1 + n > width) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%s%.*s", column ? " " : "    ", (int)n, text);
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void put_key(FILE *out, const struct fit_config_key *key)
{
    static const char *const use[] = {[FIT_KEY_READ] = "read",
                                      [FIT_KEY_SAME] = "same as ",
                                      [FIT_KEY_OTHER_WAY] = "in part",
                                      [FIT_KEY_NO_EFFECT] = "no effect",
                                      [FIT_KEY_REFUSED] = "refused when true"};
    fprintf(out, "%s (%s%s", key->path, use[key->use], key->use == FIT_KEY_SAME ? key->same : "");
    if (key->unit)
        fprintf(out, "; %s", key->unit);
    if (key->option)
        fprintf(out, "; --%s", key->option);
    fprintf(out, ")\n");
    put_wrapped(out, key->about, 96);
}

enum fit_status front_keys(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct fit_config_key key;
    size_t shown = 0;
    if (a->nrest > 1)
        return fit_fail(err, FIT_ERR_USAGE,
                        "config --keys: '%s' is too much; one TEXT chooses the keys that hold it",
                        a->rest[1]);
    for (size_t i = 0; fit_config_key(i, &key); i++)
        if (!a->nrest || strstr(key.path, a->rest[0])) {
            put_key(f->out, &key);
            shown++;
        }
    return shown ? FIT_OK
                 : fit_fail(err, FIT_ERR_USAGE, "config --keys: no key with '%s' is known",
                            a->rest[0]);
}
