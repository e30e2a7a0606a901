/* clock.c -- where the seconds go. See clock.h.
 *
 * Every thread has a stopwatch, in a list that only grows, so that threads are reported after their end. Only the
 * thread itself writes to its stopwatch.
 */
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct watch {
    struct watch *next;
    const char *name;
    enum fit_clock now;
    uint64_t since;
    _Atomic uint64_t spent[FIT_CLOCKS]; /* ns */
};

int fit_clock_runs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *first, **end = &first;
static _Thread_local struct watch *mine;
static _Thread_local const char *name;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double fit_seconds(void)
{
    return 1e-9 * (double)now();
}

/* A thread that is new to the clock has waited until now. */
static struct watch *begin(enum fit_clock at)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->name = name ? name : "thread";
    w->now = at;
    w->since = now();
    pthread_mutex_lock(&lock);
    *end = w;
    end = &w->next;
    pthread_mutex_unlock(&lock);
    return w;
}

enum fit_clock fit_clock_change(enum fit_clock to)
{
    if (!mine && !(mine = begin(FIT_CLOCK_WAIT)))
        return to;
    uint64_t t = now();
    enum fit_clock was = mine->now;
    atomic_fetch_add_explicit(&mine->spent[was], t - mine->since, memory_order_relaxed);
    mine->since = t;
    mine->now = to;
    return was;
}

enum fit_clock fit_clock_now(void)
{
    return mine ? mine->now : FIT_CLOCK_OTHER;
}

void fit_clock_name(const char *text)
{
    name = text;
}

void fit_clock_start(void)
{
    name = "main";
    if (!fit_clock_runs && !mine)
        mine = begin(FIT_CLOCK_OTHER);
    fit_clock_runs = 1;
}

/* Several threads with the same name are numbered from 1; "main" has no number. */
static void number_name(const struct watch *w, char *text, size_t size)
{
    int before = 0, all = 0;
    for (const struct watch *o = first; o; o = o->next) {
        before += strcmp(o->name, w->name) == 0 && !all;
        all |= o == w;
    }
    if (strcmp(w->name, "main") == 0)
        snprintf(text, size, "%s", w->name);
    else
        snprintf(text, size, "%s %d", w->name, before);
}

size_t fit_clock_report(struct fit_clock_thread *to, size_t most)
{
    size_t n = 0;
    if (mine)
        fit_clock_change(mine->now);
    pthread_mutex_lock(&lock);
    for (const struct watch *w = first; w && n < most; w = w->next, n++) {
        number_name(w, to[n].name, sizeof to[n].name);
        for (int k = 0; k < FIT_CLOCKS; k++)
            to[n].seconds[k] =
                1e-9 * (double)atomic_load_explicit(&w->spent[k], memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return n;
}

const char *fit_clock_word(enum fit_clock c)
{
    static const char *const word[] = {"other",  "load",  "decode", "tables", "pairs",
                                       "reduce", "solve", "write",  "wait"};
    return (unsigned)c < FIT_CLOCKS ? word[c] : "unknown";
}

static void print_row(FILE *f, const char *who, const double *seconds)
{
    fprintf(f, "  %-10s", who);
    for (int c = 1; c <= FIT_CLOCKS; c++) /* other: behind those with a name */
        if (seconds[c % FIT_CLOCKS] > 0)
            fprintf(f, " %7.3f", seconds[c % FIT_CLOCKS]);
        else
            fprintf(f, " %7s", "-");
    fputc('\n', f);
}

void fit_clock_print(FILE *f)
{
    static struct fit_clock_thread t[FIT_CLOCK_THREADS];
    size_t n = fit_clock_report(t, FIT_CLOCK_THREADS);
    double all[FIT_CLOCKS] = {0};
    fprintf(f, "seconds     ");
    for (int c = 1; c <= FIT_CLOCKS; c++)
        fprintf(f, " %7s", fit_clock_word((enum fit_clock)(c % FIT_CLOCKS)));
    fputc('\n', f);
    for (size_t k = 0; k < n; k++) {
        print_row(f, t[k].name, t[k].seconds);
        for (int c = 0; c < FIT_CLOCKS; c++)
            all[c] += t[k].seconds[c];
    }
    if (n > 1)
        print_row(f, "all", all);
}
