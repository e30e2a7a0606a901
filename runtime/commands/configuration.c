/* configuration.c -- from the command line to a configuration; see configuration.h. */
#include "commands/configuration.h"
#include "base/number_text.h"

#include "hdf5/reader.h"
#include "input/run_files.h"
#include "setup/sampling_setup.h"
#include "setup/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *fit_setup_config_file(const struct fit_cli *cli)
{
    return cli->config ? cli->config : cli->nword ? cli->word[0] : NULL;
}

static enum fit_status override(struct fit_config *cfg, const struct fit_cli *cli,
                                struct fit_config_log *log, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    char threads[32];
    for (size_t k = 0; k < cli->nchange && st == FIT_OK; k++)
        st = fit_config_override(cfg, cli->change[k].name, cli->change[k].value, log, err);
    if (st == FIT_OK && cli->output && cli->command != FIT_COMMAND_EXTRACT) /* there a file */
        st = fit_config_override(cfg, "output-dir", cli->output, log, err);
    if (st == FIT_OK && cli->variant)
        st = fit_config_override(cfg, "variant", cli->variant, log, err);
    if (st == FIT_OK && cli->threads) {
        snprintf(threads, sizeof threads, "%llu", (unsigned long long)cli->threads);
        st = fit_config_override(cfg, "threads", threads, log, err);
    }
    return st;
}

/* Starts from the parameters of an earlier fit.h5 in `folder` (--resume). */
static enum fit_status start_from(struct fit_config *cfg, const char *folder,
                                 struct fit_config_log *log, struct fit_error *err)
{
    char path[1024], text[128], **name = NULL, number[40];
    FIT_OWNED double *value = NULL;
    size_t n = 0, m = 0;
    struct fit_h5 *h = NULL;
    snprintf(path, sizeof path, "%s/fit.h5", folder ? folder : ".");
    if (access(path, R_OK) != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--resume: no %s to go on from", path);
    enum fit_status st = fit_run_id_check(folder ? folder : ".", err);
    if (st == FIT_OK)
        st = fit_h5_open(path, &h, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(h, "/entry/parameters/name", &name, &n, err);
    if (st == FIT_OK)
        st = fit_h5_read_doubles(h, "/entry/parameters/value", &value, &m, err);
    for (size_t k = 0; k < n && k < m && st == FIT_OK; k++) {
        int index = fit_config_param_index(cfg->kernel, name[k]); /* contrast[2] is none */
        if (index < 0 || (size_t)index >= cfg->nparam)
            continue;
        const struct fit_config_param *c = &cfg->param[index];
        if (c->fixed.value ||
            c->start.from.kind == FIT_FROM_COMMAND) /* the command line knows better */
            continue;
        snprintf(number, sizeof number, "%.17g", value[k]);
        snprintf(text, sizeof text, "%.60s=%s", name[k], number);
        st = fit_config_override(cfg, "start", text, log, err);
    }
    fit_h5_free_strings(name, n);
    fit_h5_close(h);
    return st;
}

enum fit_status fit_setup_config(const struct fit_cli *cli, const struct fit_kernel *kernel,
                                 struct fit_config_log *log, struct fit_config **cfg,
                                 struct fit_error *err)
{
    const char *file = fit_setup_config_file(cli);
    const int keep = cli->command == FIT_COMMAND_CHECK; /* all mistakes, not the first alone */
    struct fit_config_options options = {.lax = cli->lax, .keep = keep};
    enum fit_status st = FIT_OK;
    *cfg = NULL;
    if (cli->nword + (cli->config != NULL) > 1)
        return fit_fail(err, FIT_ERR_USAGE, "'%s': one configuration at a time",
                        cli->word[cli->nword - 1]);
    if (!file && !fit_cli_data(cli) && cli->command != FIT_COMMAND_PLAN)
        return fit_fail(err, FIT_ERR_USAGE, "%s: a configuration is missing, or --data FILE",
                        fit_cli_command_name(cli->command));
    if (file && fit_setup_is_data(file))
        return kernel->space == FIT_PAIRS
                   ? fit_fail(err, FIT_ERR_USAGE,
                              "%s: this is data, not a configuration: homodyne-%s init %s -o "
                              "my.yaml makes one; or --data %s",
                              file, kernel->name, file, file)
                   : fit_fail(err, FIT_ERR_USAGE,
                              "%s: this is data, not a configuration: --data %s", file, file);
    st = file ? fit_config_read(file, kernel, &options, log, cfg, err)
              : fit_config_new(kernel, cfg, err);
    if (*cfg)
        (*cfg)->data_only = cli->command == FIT_COMMAND_EXTRACT;
    if (st == FIT_OK)
        st = override(*cfg, cli, log, err);
    else if (*cfg && override(*cfg, cli, log, NULL) == FIT_OK)
        fit_config_finish(*cfg, log, NULL); /* what this finds is in the log */
    if (st == FIT_OK && cli->resume && !fit_sampling_wanted(*cfg)) /* chains go on from their checkpoint */
        st = start_from(*cfg, (*cfg)->output.dir.value, log, err);
    if (st == FIT_OK)
        st = fit_config_finish(*cfg, log, err);
    return st;
}

/* ---- the words of the command ------------------------------------------------------------------------------------ */

static int is_plain(const char *word)
{
    return *word &&
           strspn(word,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
               strlen(word);
}

char *fit_command_line(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    for (int k = 0; k < argc; k++) {
        fputs(k ? " " : "", f);
        if (is_plain(argv[k])) {
            fputs(argv[k], f);
            continue;
        }
        fputc('\'', f);
        for (const char *c = argv[k]; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, 0}, f);
        fputc('\'', f);
    }
    return fit_text_end(f, &text);
}
