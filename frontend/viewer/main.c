/* main.c -- homodyne-view: data, a configuration or results in a browser; `homodyne view` runs it.
 *
 *     homodyne-view TARGET [RESULT..] [-o FOLDER] [--port N] [--model NAME] [--gap A] [--quiet]
 *     homodyne-view --watch HISTORY FOLDER       what `homodyne watch --view` shows
 *
 * It prints its address, with a token that nobody else knows, and answers until Ctrl-C.  Exit codes as those of the
 * fitters. */
#define _XOPEN_SOURCE 700
#include "base/command_line.h"
#include "frontend/programs.h"
#include "frontend/viewer/server.h"

#include "common/signals.h"
#include "common/stream.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

struct request {
    struct front_view said;
    struct view_start start;
    unsigned short port;
    char *more[VIEW_RESULTS];
};

static enum fit_status take_words(struct request *q, const struct command_line *line, struct fit_error *err)
{
    q->start.target = line->nword ? line->word[0] : NULL;
    for (size_t k = 1; k < line->nword && q->start.nmore < VIEW_RESULTS; k++)
        q->more[q->start.nmore++] = front_word(line->word[k]);
    q->start.folder = q->said.history && line->nword ? line->word[0] : q->said.folder ? q->said.folder : "view";
    q->start.model = q->said.model;
    q->start.gap = q->said.gap;
    q->start.history = q->said.history;
    q->port = (unsigned short)q->said.port;
    if (q->said.port > 65535)
        return fit_fail(err, FIT_ERR_USAGE, "view: --port %zu: a number from 1 to 65535", q->said.port);
    if (!q->start.target)
        return fit_fail(err, FIT_ERR_USAGE,
                        "view: nothing is named; give a data file, a configuration or the folder of a fit");
    if (access(q->start.target, F_OK) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: no such file or folder", q->start.target);
    return FIT_OK;
}

static enum fit_status read_words(int argc, char **argv, struct request *q, struct fit_error *err)
{
    static const struct option_row rows[] = {
        FRONT_VIEW_ROWS,
        {"watch", 0, "HISTORY", "a line of JSON for each fit of `homodyne watch`", 0, FRONT_VIEW(TEXT, history)},
    };
    const struct option_set set = {
        .table = {{rows, sizeof rows / sizeof *rows}}, .command = "view", .help = "homodyne view --help"};
    struct command_line line;
    enum fit_status st = fit_options_read(&set, argc, argv, 1, &q->said, &line, err);
    if (st == FIT_OK)
        st = take_words(q, &line, err);
    options_free(&line);
    return st;
}

/* 128 bits that nobody can guess. */
static enum fit_status make_token(char token[33], struct fit_error *err)
{
    unsigned char byte[16];
    FILE *f = fopen("/dev/urandom", "rb");
    const size_t n = f ? fread(byte, 1, sizeof byte, f) : 0;
    if (f)
        fclose(f);
    if (n != sizeof byte)
        return fit_fail(err, FIT_ERR_INTERNAL, "/dev/urandom cannot be read");
    for (size_t k = 0; k < sizeof byte; k++)
        snprintf(token + 2 * k, 3, "%02x", byte[k]);
    return FIT_OK;
}

static enum fit_status find_programs(char dir[FRONT_PATH], struct fit_error *err)
{
    const ssize_t n = readlink("/proc/self/exe", dir, FRONT_PATH - 1);
    if (n > 0)
        dir[n] = '\0';
    char *slash = n > 0 ? strrchr(dir, '/') : NULL;
    if (!slash)
        return fit_fail(err, FIT_ERR_INTERNAL, "cannot find the folder of this program");
    *slash = '\0';
    return FIT_OK;
}

static void serve(const struct request *q, unsigned short port, const char *token, const struct view_session *s)
{
    FILE *out = text_stream(STDOUT_FILENO);
    const struct timespec moment = {0, 100000000};
    fprintf(out, "http://127.0.0.1:%u/%s/\n", port, token);
    if (!q->said.quiet)
        fprintf(out, "Open this address; Ctrl-C ends.  Fits and configurations are written to %s\n", s->folder);
    if (s->at_rest)
        fputs("note: no model was named: static_isotropic, a sample at rest; --model takes another\n",
              text_stream(STDERR_FILENO));
    fflush(out);
    while (!stopped)
        nanosleep(&moment, NULL);
}

int main(int argc, char **argv)
{
    static struct view_session s;
    struct request q = {0};
    struct view_server *server = NULL;
    struct fit_error err = {.status = FIT_OK};
    char dir[FRONT_PATH], token[33];
    q.start.more = q.more;
    signals_catch(on_signal);
    enum fit_status st = read_words(argc, argv, &q, &err);
    if (st == FIT_OK)
        st = find_programs(dir, &err);
    if (st == FIT_OK)
        st = make_token(token, &err);
    if (st == FIT_OK)
        st = view_session_open(&s, dir, &q.start, &err);
    if (st == FIT_OK)
        st = view_server_begin(&s, token, &q.port, &server, &err);
    if (st == FIT_OK)
        serve(&q, q.port, token, &s);
    view_server_end(server);
    view_session_close(&s);
    if (st != FIT_OK)
        fprintf(text_stream(STDERR_FILENO), "homodyne: error: %s\n", err.message);
    return fit_status_exit(st);
}
