/* fits.c -- `fits`: many fits in one process, for a program that lists them (`homodyne batch --device`).
 *
 * A device combines the sums of fits that wait at the same time into one launch (device/queue.h); processes of their
 * own would each have a context, kernels to compile and launches to wait for. Each fit has the words, the files, the
 * messages and the exit code that a program of its own would have, and the same numbers.
 *
 *     MODEL fits DEVICE COUNT LIMIT QUIET|NORMAL|VERBOSE
 *
 * LIMIT fits run at a time; 0: as many as a launch holds, without a device as many as there are cores, at most COUNT.
 * The program answers "ready N" with that number, or "error TEXT". A request follows on standard input: the number of
 * words, a number of the caller's, the file for messages, and the words of the command line, each ended by a zero byte.
 * When a fit ends, the line "NUMBER CODE" follows on standard output. The end of the input ends the program after the
 * last fit. */
#include "base/arena.h"
#include "commands/program.h"
#include "device/device.h"
#include "device/report.h"
#include "machine/memory.h"
#include "machine/topology.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 10000, AT_ONCE = 4096 };

/* A fit: words ended by NULL, in one block of memory. */
struct request {
    size_t nword;
    char **word; /* number of the caller's, file for messages, words of the command line */
    char *text;
    struct request *next;
};

struct fits {
    const struct fit_program *p;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct request *first, **end;
    int closed; /* no further requests */
};

/* ---- a fit -------------------------------------------------------------------------------------------------- */

static int run_fit(const struct fit_program *program, struct request *r, FILE *messages)
{
    struct fit_program p = *program;
    struct fit_cli cli;
    struct fit_error err = {.status = FIT_OK};
    p.argc = (int)r->nword - 2;
    p.argv = r->word + 2;
    p.argv[0] = program->argv[0]; /* the name by which a model of one's own is known */
    p.out = p.err = messages;
    enum fit_status st = fit_cli_parse(p.argc, p.argv, &cli, &err);
    if (st == FIT_OK)
        st = fit_cmd_fit(&p, &cli, &err);
    fit_cli_free(&cli);
    if (st == FIT_OK)
        return p.exit_code;
    fprintf(messages, "%s: %s%s\n", p.name, fit_error_word(&err), err.message);
    return fit_status_exit(st);
}

static int serve(const struct fits *all, struct request *r)
{
    FILE *messages = fopen(r->word[1], "a");
    if (!messages)
        return fit_status_exit(FIT_ERR_IO);
    const int code = run_fit(all->p, r, messages);
    return fclose(messages) == 0 ? code : fit_status_exit(FIT_ERR_IO);
}

static void release(struct request *r)
{
    if (r) {
        free(r->word);
        free(r->text);
        free(r);
    }
}

/* The next request; NULL: there will be none. */
static struct request *take(struct fits *all)
{
    pthread_mutex_lock(&all->lock);
    while (!all->first && !all->closed)
        pthread_cond_wait(&all->more, &all->lock);
    struct request *r = all->first;
    if (r && !(all->first = r->next))
        all->end = &all->first;
    pthread_mutex_unlock(&all->lock);
    return r;
}

static void *work(void *user)
{
    struct fits *all = user;
    for (struct request *r; (r = take(all)) != NULL; release(r)) {
        const int code = serve(all, r);
        pthread_mutex_lock(&all->lock);
        fprintf(all->p->out, "%s %d\n", r->word[0], code);
        fflush(all->p->out);
        pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

/* ---- requests ----------------------------------------------------------------------------------------------- */

/* One word of the input, for the caller to free; NULL: the input has ended, or no memory. */
static char *read_word(void)
{
    char *text = NULL;
    size_t size = 0;
    const ssize_t n = getdelim(&text, &size, '\0', stdin);
    if (n > 0 && text[n - 1] == '\0')
        return text;
    free(text);
    return NULL;
}

/* NULL: the input has ended, or is none of ours. */
static struct request *read_request(void)
{
    FIT_OWNED char *count = read_word();
    struct request *r = calloc(1, sizeof *r);
    const unsigned long n = count ? strtoul(count, NULL, 10) : 0;
    size_t size = 0;
    FILE *text = r && n >= 3 && n <= MOST_WORDS ? open_memstream(&r->text, &size) : NULL;
    for (unsigned long k = 0; text && k < n; k++) {
        FIT_OWNED char *word = read_word();
        if (word && fwrite(word, 1, strlen(word) + 1, text) == strlen(word) + 1)
            r->nword++;
    }
    if (!text || fclose(text) != 0 || r->nword < n || !(r->word = calloc(n + 1, sizeof *r->word))) {
        release(r);
        return NULL;
    }
    char *at = r->text;
    for (size_t k = 0; k < n; k++, at += strlen(at) + 1)
        r->word[k] = at;
    return r;
}

static void read_requests(struct fits *all)
{
    for (struct request *r; (r = read_request()) != NULL;) {
        pthread_mutex_lock(&all->lock);
        *all->end = r;
        all->end = &r->next;
        pthread_cond_signal(&all->more);
        pthread_mutex_unlock(&all->lock);
    }
    pthread_mutex_lock(&all->lock);
    all->closed = 1;
    pthread_cond_broadcast(&all->more);
    pthread_mutex_unlock(&all->lock);
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static size_t at_a_time(struct fit_device *d, size_t count, size_t limit)
{
    const size_t n = limit ? limit : (size_t)fit_device_threads(fit_topology_threads(), count);
    if (d)
        fit_device_crowd(d, n);
    return n < 1 ? 1 : n > AT_ONCE ? AT_ONCE : n;
}

static enum fit_status run_all(struct fits *all, size_t n, struct fit_error *err)
{
    pthread_t *thread = calloc(n, sizeof *thread);
    size_t begun = 0;
    while (thread && begun < n && pthread_create(&thread[begun], NULL, work, all) == 0)
        begun++;
    if (!begun) {
        free(thread);
        return fit_no_memory(err, "fits");
    }
    fprintf(all->p->out, "ready %zu\n", begun);
    fflush(all->p->out);
    read_requests(all);
    for (size_t k = 0; k < begun; k++)
        pthread_join(thread[k], NULL);
    free(thread);
    return FIT_OK;
}

enum fit_status fit_cmd_fits(struct fit_program *p, struct fit_error *err)
{
    if (p->argc != 6)
        return fit_fail(err, FIT_ERR_USAGE, "fits: this command is for `homodyne batch --device`");
    const struct fit_device_wish wish = {p->argv[2], p->name, p->err, strcmp(p->argv[5], "QUIET") == 0,
                                         strcmp(p->argv[5], "VERBOSE") == 0};
    struct fits all = {.p = p, .end = &all.first};
    struct fit_device *device = NULL;
    enum fit_status st = fit_device_begin(&wish, &device, err);
    if (st != FIT_OK) { /* the caller reports it */
        fprintf(p->out, "error %s\n", err->message);
        p->exit_code = fit_status_exit(st);
        return FIT_OK;
    }
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.more, NULL);
    const size_t n = at_a_time(device, strtoul(p->argv[3], NULL, 10), strtoul(p->argv[4], NULL, 10));
    fit_memory_share(n);
    st = run_all(&all, n, err);
    pthread_cond_destroy(&all.more);
    pthread_mutex_destroy(&all.lock);
    fit_device_end(&wish, device);
    return st;
}
