/* tmpl.c -- templates: ordinary text files with placeholders. */
#include "base/tmpl.h"

#include <string.h>

static void put_line(const char *s, size_t n, const char *model, const char *source, FILE *out)
{
    static const char *const word[2] = {"@model@", "@source@"};
    const char *const value[2] = {model, source};
    for (size_t k = 0; k < n; k++) {
        int replaced = 0;
        for (int w = 0; w < 2 && !replaced; w++) {
            size_t m = strlen(word[w]);
            if (k + m <= n && memcmp(s + k, word[w], m) == 0) {
                fputs(value[w], out);
                k += m - 1;
                replaced = 1;
            }
        }
        if (!replaced)
            fputc(s[k], out);
    }
}

void hg_template(const char *text, const char *model, const char *source, hg_fill *fill, void *user, FILE *out)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t n = end ? (size_t)(end - text) + 1 : strlen(text);
        char name[32];
        if (strncmp(text, "%% ", 3) == 0 && sscanf(text + 3, "%31s", name) == 1)
            fill(user, name, out);
        else
            put_line(text, n, model, source, out);
        text += n;
    }
}
