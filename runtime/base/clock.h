/* clock.h -- where the seconds go: at every moment each thread does one kind of work.
 *
 *     enum fit_clock was = fit_clock_enter(FIT_CLOCK_TABLES);
 *     ...
 *     fit_clock_enter(was);
 *
 * A thread's seconds over all kinds add up to the time since it was first seen (the first: since fit_clock_start).
 * While the clock is off the calls cost one comparison.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum fit_clock {
    FIT_CLOCK_OTHER,  /* everything without a name */
    FIT_CLOCK_LOAD,   /* bytes from files, their checksum */
    FIT_CLOCK_DECODE, /* decompressing, putting values into tiles */
    FIT_CLOCK_TABLES, /* the model by frames and groups */
    FIT_CLOCK_PAIRS,  /* sums over values */
    FIT_CLOCK_REDUCE, /* adding the sums of tiles */
    FIT_CLOCK_SOLVE,  /* the search for the minimum except its sums */
    FIT_CLOCK_WRITE,  /* results */
    FIT_CLOCK_WAIT,   /* for another thread, or for data */
    FIT_CLOCKS
};

extern int fit_clock_runs;
enum fit_clock fit_clock_change(enum fit_clock to);

/* The calling thread does this kind of work from now on; returns the previous kind. */
static inline enum fit_clock fit_clock_enter(enum fit_clock to)
{
    return fit_clock_runs ? fit_clock_change(to) : to;
}

/* The kind of work of the calling thread. */
enum fit_clock fit_clock_now(void);

/* Names the calling thread in the report ("worker"); the text is borrowed. */
void fit_clock_name(const char *name);

/* Starts the clock; the calling thread is "main". Once per process. */
void fit_clock_start(void);

struct fit_clock_thread {
    char name[24]; /* "main", "worker 1", ... */
    double seconds[FIT_CLOCKS];
};

/* Threads in the order in which they were first seen, at most `most`; returns how many. The time of threads at work
 * is counted up to their last change of kind. */
enum { FIT_CLOCK_THREADS = 160 };
size_t fit_clock_report(struct fit_clock_thread *to, size_t most);

/* "load", ... */
const char *fit_clock_word(enum fit_clock c);

/* The report as a table of 80 columns. */
void fit_clock_print(FILE *f);

/* Seconds of a clock that only goes forward. */
double fit_seconds(void);
