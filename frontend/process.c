/* process.c -- runs other programs: in place of this one, beside it, or for their output. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 }; /* exit code of shells, and where posix_spawn cannot tell that there is no program (qemu) */

extern char **environ;

char *front_word(const char *text)
{
    return (char *)(size_t)(const void *)text;
}

char **front_words(const struct front_fitter *fitter, const char *command, char *const *rest,
                   size_t n)
{
    char **word = calloc(n + 4, sizeof *word);
    size_t k = 0;
    if (!word)
        return NULL;
    word[k++] = front_word(fitter->program);
    if (fitter->kernel[0])
        word[k++] = front_word(fitter->kernel);
    word[k++] = front_word(command);
    for (size_t i = 0; i < n; i++)
        word[k++] = rest[i];
    return word;
}

enum fit_status front_exec(const char *program, char *const *word, struct fit_error *err)
{
    execv(program, word);
    return fit_fail(err, FIT_ERR_IO, "%s: cannot be run: %s", program, strerror(errno));
}

enum fit_status front_start(const char *program, char *const *word, const char *log, long *pid,
                            struct fit_error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = 0;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    if (log) { /* in a process group of its own: this program receives Ctrl-C and passes it on */
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log,
                                         O_WRONLY | O_CREAT | O_APPEND, 0666);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    int bad = posix_spawn(&child, program, &actions, &attributes, word, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (bad)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be run: %s", program, strerror(bad));
    *pid = child;
    return FIT_OK;
}

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static volatile sig_atomic_t waited_for; /* its number, or 0 */

int front_is_waiting(void)
{
    return waited_for != 0;
}

void front_pass_on(int number)
{
    if (waited_for)
        kill((pid_t)waited_for, number);
}

enum fit_status front_wait(long pid, int *code, struct fit_error *err)
{
    int status = 0;
    waited_for = (sig_atomic_t)pid;
    while (waitpid((pid_t)pid, &status, 0) < 0)
        if (errno != EINTR) {
            waited_for = 0;
            return fit_fail(err, FIT_ERR_INTERNAL, "waiting for a program: %s", strerror(errno));
        }
    waited_for = 0;
    *code = exit_code(status);
    return FIT_OK;
}

int front_ended(long pid, int *code)
{
    int status = 0;
    if (waitpid((pid_t)pid, &status, WNOHANG) != (pid_t)pid)
        return 0;
    *code = exit_code(status);
    return 1;
}

static enum fit_status read_all(int fd, char **text, struct fit_error *err)
{
    size_t size = 0;
    char buffer[4096];
    FILE *f = open_memstream(text, &size);
    if (!f)
        return fit_no_memory(err, NULL);
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        fwrite(buffer, 1, (size_t)n, f);
    }
    if (fclose(f) == 0)
        return FIT_OK;
    free(*text);
    *text = NULL;
    return fit_no_memory(err, NULL);
}

enum fit_status front_capture(const char *program, char *const *word, char **text, int *code,
                              struct fit_error *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int fd[2];
    *text = NULL;
    if (pipe(fd) != 0)
        return fit_fail(err, FIT_ERR_INTERNAL, "pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, fd[0]);
    posix_spawn_file_actions_addclose(&actions, fd[1]);
    int bad = posix_spawnp(&child, program, &actions, NULL, word, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fd[1]);
    waited_for = bad ? 0 : (sig_atomic_t)child;
    enum fit_status st =
        bad ? fit_fail(err, FIT_ERR_IO, "%s: cannot be run: %s", program, strerror(bad))
            : read_all(fd[0], text, err);
    close(fd[0]);
    if (bad)
        return st;
    enum fit_status waited = front_wait(child, code, err);
    if (waited == FIT_OK && *code == NOT_FOUND)
        waited = fit_fail(err, FIT_ERR_IO, "%s: cannot be run: exit code %d", program, *code);
    return st == FIT_OK ? waited : st;
}

void front_last_error(const char *log, int code, char *text, size_t size)
{
    char line[512];
    FILE *f = fopen(log, "r");
    if (code == fit_status_exit(FIT_ERR_INTERRUPTED))
        snprintf(text, size, "stopped before its end; the same command goes on");
    else if (code > 128)
        snprintf(text, size, "its process was ended by signal %d; the same command tries it again", code - 128);
    else
        snprintf(text, size, "exit status %d", code);
    while (f && fgets(line, sizeof line, f)) {
        const char *mark = strstr(line, "error: ");
        if (mark)
            snprintf(text, size, "%.*s", (int)strcspn(mark + 7, "\n"), mark + 7);
    }
    if (f)
        fclose(f);
}

/* ---- input of another program ------------------------------------------------------------------------- */

enum fit_status front_temporary_begin(struct front_temporary *t, const char *name, struct fit_error *err)
{
    const char *base = getenv("TMPDIR");
    snprintf(t->folder, sizeof t->folder, "%s/homodyne-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(t->folder)) {
        enum fit_status st = fit_fail(err, FIT_ERR_IO, "%s: cannot be made: %s", t->folder, strerror(errno));
        t->folder[0] = '\0';
        return st;
    }
    snprintf(t->file, sizeof t->file, "%s/%.12s", t->folder, name);
    return FIT_OK;
}

void front_temporary_end(struct front_temporary *t)
{
    if (!t->folder[0])
        return;
    unlink(t->file);
    rmdir(t->folder);
    t->folder[0] = '\0';
}
