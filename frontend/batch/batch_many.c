/* batch_many.c -- the fits of a list in one process of the fitter, for devices (runtime/commands/fits.c).
 *
 * Their sums are combined into common launches. The process is started with the first fit. If it dies, the fits that
 * ran in it have its exit code, and the next fit starts another one. Requests go through a socket, because a write to
 * a dead process then is an error and no signal. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int batch_many_wanted(const struct batch *b)
{
    return b->cli.device && strcmp(b->cli.device, "cpu") != 0;
}

/* ---- the process --------------------------------------------------------------------------------------------- */

static int spawn(const struct batch *b, char *const *word, pid_t *child, int to, int from)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes); /* a process group of its own: this program passes Ctrl-C on */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from, STDOUT_FILENO);
    const int bad = posix_spawn(child, b->fitter.program, &actions, &attributes, word, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return bad;
}

static void close_both(int fd[2])
{
    close(fd[0]);
    close(fd[1]);
}

static int keep_to_ourselves(int fd[2])
{
    return fcntl(fd[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd[1], F_SETFD, FD_CLOEXEC) == 0;
}

static enum fit_status start_process(struct batch *b, char *const *word, struct fit_error *err)
{
    int to[2], from[2];
    pid_t child = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, to) != 0)
        return fit_fail(err, FIT_ERR_INTERNAL, "batch: socketpair: %s", strerror(errno));
    if (pipe(from) != 0) {
        close_both(to);
        return fit_fail(err, FIT_ERR_INTERNAL, "batch: pipe: %s", strerror(errno));
    }
    const int bad = keep_to_ourselves(to) && keep_to_ourselves(from) ? spawn(b, word, &child, to[1], from[1]) : errno;
    close(to[1]);
    close(from[1]);
    b->many = (struct batch_many){.pid = child, .to = to[0], .from = from[0]};
    if (!bad)
        return FIT_OK;
    close(to[0]);
    close(from[0]);
    b->many.pid = 0;
    return fit_fail(err, FIT_ERR_IO, "%s: cannot be run: %s", b->fitter.program, strerror(bad));
}

/* Reads what there is. 0: the process has closed its output. */
static int read_some(struct batch_many *m)
{
    ssize_t n;
    do
        n = read(m->from, m->text + m->n, sizeof m->text - 1 - m->n);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        m->n += (size_t)n;
    m->text[m->n] = '\0';
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* The next line without its end; 0: there is none yet. */
static int next_line(struct batch_many *m, char *line, size_t size)
{
    const size_t n = strcspn(m->text, "\n");
    if (n == m->n)
        return 0;
    snprintf(line, size, "%.*s", (int)n, m->text);
    memmove(m->text, m->text + n + 1, m->n - n);
    m->n -= n + 1;
    return 1;
}

static int wait_for(struct batch_many *m)
{
    int code = fit_status_exit(FIT_ERR_INTERNAL);
    struct fit_error ignored;
    close(m->to);
    close(m->from);
    if (m->pid)
        front_wait(m->pid, &code, &ignored);
    *m = (struct batch_many){0};
    return code;
}

/* "ready N", or "error TEXT" */
static enum fit_status wait_until_ready(struct batch *b, struct fit_error *err)
{
    char line[sizeof b->many.text];
    while (!next_line(&b->many, line, sizeof line))
        if (!read_some(&b->many))
            return fit_fail(err, FIT_ERR_INTERNAL, "%s: it ended with exit code %d before the first fit",
                            b->fitter.program, wait_for(&b->many));
    if (sscanf(line, "ready %ld", &b->jobs) == 1) {
        fcntl(b->many.from, F_SETFL, O_NONBLOCK);
        return FIT_OK;
    }
    wait_for(&b->many);
    return fit_fail(err, FIT_ERR_CONFIG, "%s", line + (strncmp(line, "error ", 6) == 0 ? 6 : 0));
}

enum fit_status batch_many_begin(struct batch *b, struct fit_error *err)
{
    char count[24], limit[24];
    if (b->many.pid)
        return FIT_OK;
    snprintf(count, sizeof count, "%zu", b->n);
    snprintf(limit, sizeof limit, "%ld", b->jobs_given ? b->jobs : 0);
    const char *rest[] = {b->cli.device, count, limit, b->quiet ? "QUIET" : b->cli.verbose ? "VERBOSE" : "NORMAL"};
    char *word[4];
    for (size_t k = 0; k < 4; k++)
        word[k] = front_word(rest[k]);
    char **all = front_words(&b->fitter, "fits", word, 4);
    enum fit_status st = all ? start_process(b, all, err) : fit_no_memory(err, NULL);
    free(all);
    return st == FIT_OK ? wait_until_ready(b, err) : st;
}

int batch_many_finish(struct batch *b)
{
    return b->many.pid ? wait_for(&b->many) : 0;
}

void batch_many_stop(const struct batch *b, int how)
{
    if (b->many.pid)
        kill((pid_t)b->many.pid, how);
}

/* ---- fits ---------------------------------------------------------------------------------------------------- */

static int send_word(int fd, const char *word)
{
    size_t left = strlen(word) + 1;
    for (ssize_t n; left; word += n, left -= (size_t)n)
        if ((n = send(fd, word, left, MSG_NOSIGNAL)) < 0) {
            if (errno != EINTR)
                return 0;
            n = 0;
        }
    return 1;
}

void batch_many_start(struct batch *b, struct batch_job *j, char *const *word)
{
    char count[24], number[24];
    size_t n = 0;
    while (word[n])
        n++;
    snprintf(count, sizeof count, "%zu", n + 2);
    snprintf(number, sizeof number, "%zu", (size_t)(j - b->job));
    int good = send_word(b->many.to, count) && send_word(b->many.to, number) && send_word(b->many.to, j->log);
    for (size_t k = 0; k < n && good; k++)
        good = send_word(b->many.to, word[k]);
    j->pid = b->many.pid; /* if it is dead, batch_many_look will find out */
}

void batch_many_wait(const struct batch *b, double seconds)
{
    struct pollfd fd = {.fd = b->many.from, .events = POLLIN};
    poll(&fd, b->many.pid ? 1 : 0, (int)(1e3 * seconds));
}

void batch_many_look(struct batch *b)
{
    char line[64];
    size_t at;
    int code, lives = b->many.pid != 0;
    if (!lives)
        return;
    do {
        const size_t before = b->many.n;
        lives = read_some(&b->many);
        if (b->many.n == before)
            break;
        while (next_line(&b->many, line, sizeof line))
            if (sscanf(line, "%zu %d", &at, &code) == 2 && at < b->n && b->job[at].pid) {
                b->job[at].code = code;
                b->job[at].ended = 1;
            }
    } while (lives);
    if (lives)
        return;
    code = wait_for(&b->many);
    for (at = 0; at < b->n; at++)
        if (b->job[at].pid && !b->job[at].ended) {
            b->job[at].code = code ? code : fit_status_exit(FIT_ERR_INTERNAL);
            b->job[at].ended = 1;
        }
}
