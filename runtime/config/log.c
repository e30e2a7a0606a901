/* log.c -- messages about a configuration: collected with their positions, printed together. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_impl.h"

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
        free(log->message[i].file), free(log->message[i].text);
    free(log->message);
    fit_config_log_init(log);
}

int fit_cfg_keep(struct fit_config_log *log, struct fit_config_message m)
{
    if (m.error && log->nerror++ >= FIT_CONFIG_MAX_ERRORS)
        return 1;
    const size_t place = (size_t)(m.says - m.text);
    struct fit_config_message *bigger = realloc(log->message, (log->n + 1) * sizeof *bigger);
    log->message = bigger ? bigger : log->message;
    m.file = strdup(m.file);
    m.text = strdup(m.text);
    if (!bigger || !m.file || !m.text) {
        free(m.file), free(m.text);
        return 0;
    }
    m.says = m.text + place;
    log->message[log->n++] = m;
    return 1;
}

static void add(struct fit_cfg_reader *r, int error, unsigned line, unsigned column,
                const char *format, va_list ap)
{
    char text[LONGEST], file[301];
    struct fit_config_message m = {.error = error, .file = file, .text = text};
    if (r->source == FIT_FROM_COMMAND)
        snprintf(file, sizeof file, "%.100s", r->option ? r->option : "command line");
    else
        snprintf(file, sizeof file, "%.300s", r->cfg->file), m.line = line, m.column = column;
    m.says = text + fit_place_text(text, sizeof text, file, m.line, m.column, error ? "error" : "note");
    vsnprintf(text + (m.says - text), sizeof text - (size_t)(m.says - text), format, ap);
    r->nerror += error != 0;
    r->no_memory |= !fit_cfg_keep(r->log, m);
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
    size_t i = first_message;
    while (i < r->log->n && !r->log->message[i].error)
        i++;
    if (i == r->log->n)
        return fit_fail(r->err, status, "%s: %zu errors", r->cfg->file, r->nerror);
    const struct fit_config_message *m = &r->log->message[i];
    if (r->nerror == 1)
        return fit_fail_at(r->err, status, m->file, m->line, m->column, "%s", m->says);
    return fit_fail_at(r->err, status, m->file, m->line, m->column, "%s (and %zu more)", m->says, r->nerror - 1);
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
