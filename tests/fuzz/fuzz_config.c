/* fuzz_config.c -- configuration files: files/yaml_tree.c, config/.
 *
 * A configuration that is accepted is written and read again: the second text must equal the first.
 * Lines "#: OPTION VALUE" of the input are given as options of the command line. */
#include "fuzz.h"

#include <string.h>

#include "config/config.h"
#include "config_kernels.h"

static void apply_options(struct fit_config *cfg, const char *text, struct fit_config_log *log)
{
    for (const char *line = text; (line = strstr(line, "#: ")) != NULL;) {
        char option[256], *value;
        line += 3;
        const size_t n = strcspn(line, "\n");
        snprintf(option, sizeof option, "%.*s", (int)(n < 255 ? n : 255), line);
        if ((value = strchr(option, ' ')) != NULL)
            *value++ = 0;
        int takes = 0;
        if (fit_config_option_known(option, &takes) && (!takes || value))
            fit_config_override(cfg, option, value, log, NULL);
    }
}

/* The effective configuration of the text, or NULL. */
static char *effective(const char *text, size_t size, const struct fit_kernel *kernel)
{
    struct fit_config_log log;
    struct fit_config *cfg = NULL;
    struct fit_error err = {0};
    char *out = NULL;
    fit_config_log_init(&log);
    if (fit_config_read_text(text, size, "fuzz.yaml", kernel, NULL, &log, &cfg, &err) == FIT_OK) {
        if (!memchr(text, 0, size)) {
            char *copy = malloc(size + 1);
            FUZZ_ASSERT(copy != NULL);
            memcpy(copy, text, size);
            copy[size] = 0;
            apply_options(cfg, copy, &log);
            free(copy);
        }
        if (fit_config_finish(cfg, &log, &err) == FIT_OK)
            out = fit_config_text(cfg);
        else
            FUZZ_ASSERT(err.message[0]);
    } else {
        FUZZ_ASSERT(!cfg && err.message[0]);
    }
    for (int errors = 0; errors < 2; errors++)
        free(fit_config_log_text(&log, errors));
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fit_kernel *const kernel[] = {&laminar_kernel, &heterodyne_kernel};
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++) {
        char *first = effective((const char *)data, size, kernel[k]);
        char *second = first ? effective(first, strlen(first), kernel[k]) : NULL;
        FUZZ_ASSERT(!first || second);
        free(first);
        free(second);
    }
    return 0;
}
