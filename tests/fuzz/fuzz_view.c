/* fuzz_view.c -- requests to `homodyne view`: who asks, and the words that a body becomes (frontend/viewer/request.c).
 * The input: method, path, Host, Origin, Content-Type, a line each, then the body. */
#include "fuzz.h"

#include "frontend/viewer/request.h"

#include <stdlib.h>
#include <string.h>

static const char token[] = "0123456789abcdef0123456789abcdef";

static void judge(char *const line[5])
{
    const struct view_request r = {.method = line[0],
                                   .path = line[1],
                                   .host = *line[2] ? line[2] : NULL,
                                   .origin = *line[3] ? line[3] : NULL,
                                   .type = *line[4] ? line[4] : NULL};
    struct view_target t = {.route = VIEW_ROUTES};
    const int status = view_judge(&r, token, &t);
    FUZZ_ASSERT(status == 200 || status == 400 || status == 403 || status == 404 || status == 405);
    if (status != 200)
        return;
    FUZZ_ASSERT(t.route < VIEW_ROUTES && r.host && strncmp(r.path + 1, token, sizeof token - 1) == 0);
    FUZZ_ASSERT(!strchr(t.name, '/') && t.name[0] != '.');
    FUZZ_ASSERT(strncmp(r.host, "127.0.0.1", 9) == 0 || strncmp(r.host, "localhost", 9) == 0 ||
                strncmp(r.host, "[::1]", 5) == 0);
}

static void words(const char *body, size_t size)
{
    static struct view_words w;
    struct fit_error err = {0};
    if (view_words_read(body, size, &w, &err) != FIT_OK) {
        FUZZ_ASSERT(err.message[0]);
        return;
    }
    FUZZ_ASSERT(w.n < VIEW_WORDS && w.ndata <= w.n && w.word[w.n] == NULL);
    for (size_t k = 0; k < w.n; k++) { /* each has its value: nothing can become a file or another option */
        FUZZ_ASSERT(strncmp(w.word[k], "--", 2) == 0 && strchr(w.word[k], '='));
        FUZZ_ASSERT(!strpbrk(w.word[k], " /\\\n\"'"));
    }
    FUZZ_ASSERT(!w.name[0] || (view_is_name(w.name) && !strchr(w.name, '/')));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *line[5], *at = text;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (int k = 0; k < 5; k++) {
        line[k] = at;
        char *end = memchr(at, '\n', size - (size_t)(at - text));
        at = end ? end + 1 : text + size;
        if (end)
            *end = '\0';
    }
    judge(line);
    words(at, size - (size_t)(at - text));
    free(text);
    return 0;
}
