/* config_log.c -- messages about a configuration: collected, with place, told at once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"

#define LONGEST 900

void fit_config_log_init(struct fit_config_log *log)
{
    *log = (struct fit_config_log){0};
}

void fit_config_log_free(struct fit_config_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->n; i++)
        free(log->message[i].text);
    free(log->message);
    fit_config_log_init(log);
}

static void keep(struct fit_cfg_reader *r, int error, unsigned line, unsigned column,
                 const char *text)
{
    struct fit_config_log *log = r->log;
    if (error && log->nerror++ >= FIT_CONFIG_MAX_ERRORS)
        return;
    struct fit_config_message *bigger = realloc(log->message, (log->n + 1) * sizeof *bigger);
    if (!bigger) {
        r->no_memory = 1;
        return;
    }
    log->message = bigger;
    char *copy = strdup(text);
    if (!copy) {
        r->no_memory = 1;
        return;
    }
    log->message[log->n++] = (struct fit_config_message){error, line, column, copy};
}

static void add(struct fit_cfg_reader *r, int error, unsigned line, unsigned column,
                const char *format, va_list ap)
{
    char text[LONGEST];
    const char *kind = error ? "error" : "note";
    int n;
    if (r->source == FIT_FROM_COMMAND)
        n = snprintf(text, sizeof text, "%.100s: %s: ", r->option ? r->option : "command line",
                     kind);
    else if (line)
        n = snprintf(text, sizeof text, "%.300s:%u:%u: %s: ", r->cfg->file, line, column, kind);
    else
        n = snprintf(text, sizeof text, "%.300s: %s: ", r->cfg->file, kind);
    if (n < 0 || (size_t)n >= sizeof text)
        n = 0;
    vsnprintf(text + n, sizeof text - (size_t)n, format, ap);
    r->nerror += error != 0;
    keep(r, error, line, column, text);
}

void fit_cfg_error(struct fit_cfg_reader *r, const struct fit_yaml *at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(r, 1, at ? at->line : 0, at ? at->column : 0, format, ap);
    va_end(ap);
}

void fit_cfg_error_at(struct fit_cfg_reader *r, unsigned line, unsigned column, const char *format,
                      ...)
{
    va_list ap;
    va_start(ap, format);
    add(r, 1, line, column, format, ap);
    va_end(ap);
}

void fit_cfg_note(struct fit_cfg_reader *r, unsigned line, unsigned column, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(r, 0, line, column, format, ap);
    va_end(ap);
}

enum fit_status fit_cfg_status(const struct fit_cfg_reader *r, enum fit_status status,
                               size_t first_message)
{
    if (r->no_memory)
        return fit_fail(r->err, FIT_ERR_MEMORY, "%s: out of memory while reading", r->cfg->file);
    if (!r->nerror)
        return FIT_OK;
    const char *first = "error";
    for (size_t i = first_message; i < r->log->n; i++)
        if (r->log->message[i].error) {
            first = r->log->message[i].text;
            break;
        }
    if (r->nerror == 1)
        return fit_fail(r->err, status, "%s", first);
    return fit_fail(r->err, status, "%s (and %zu more)", first, r->nerror - 1);
}

char *fit_config_log_text(const struct fit_config_log *log, int errors)
{
    size_t n = 1;
    for (size_t i = 0; i < log->n; i++)
        n += strlen(log->message[i].text) + 1;
    char *text = malloc(n + 64), *t = text;
    if (!text)
        return NULL;
    *t = 0;
    for (size_t i = 0; i < log->n; i++) {
        if (!log->message[i].error == !errors) {
            const size_t length = strlen(log->message[i].text);
            memcpy(t, log->message[i].text, length);
            t += length;
            *t++ = '\n';
            *t = 0;
        }
    }
    if (errors && log->nerror > FIT_CONFIG_MAX_ERRORS)
        snprintf(t, 64, "and %zu more errors\n", log->nerror - FIT_CONFIG_MAX_ERRORS);
    return text;
}
