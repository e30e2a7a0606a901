/* cmd_check.c -- `check`: everything that is wrong with a configuration, and what in it has no
 * effect. */
#include "program.h"
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the log; the first error is not repeated when it is also in err. */
static void print_log(FILE *f, const struct fit_config_log *log, int errors,
                      const struct fit_error *err)
{
    for (size_t k = 0; k < log->n; k++) {
        const struct fit_config_message *m = &log->message[k];
        if (m->error != errors || (err && strcmp(m->text, err->message) == 0))
            continue;
        fprintf(f, "%s\n", m->text);
    }
}

enum fit_status fit_cmd_check(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_config *cfg = NULL;
    struct fit_config_log log;
    fit_config_log_init(&log);
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK)
        st = fit_setup_config(cli, k, &log, &cfg, err);
    print_log(p->err, &log, 1, err);
    if (!cli->quiet)
        print_log(p->out, &log, 0, NULL);
    if (st == FIT_OK && !cli->quiet) {
        fprintf(p->out, "%s: good for %s", cfg->file, k->name);
        if (cfg->nignored)
            fprintf(p->out, "; %zu keys have no effect here", cfg->nignored);
        fprintf(p->out, "\n");
    }
    if (st == FIT_OK && cli->verbose) {
        char *text = fit_config_text(cfg);
        fputs(text ? text : "", p->out);
        free(text);
    }
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return st;
}
