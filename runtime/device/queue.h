/* queue.h -- calls from many threads that are combined into one launch.
 *
 * One of the waiting threads does the work of all: it takes every call that can be combined with the first one, up
 * to FIT_DEVICE_BATCH, and serves them. The combination does not change results. */
#pragma once

#include <pthread.h>
#include <stddef.h>

enum { FIT_DEVICE_BATCH = 64 }; /* calls in one launch, at most */

/* A call; the first member of a structure of the caller. */
struct fit_device_asked {
    int state, failed; /* state 0: waits, 1: taken, 2: done */
    struct fit_device_asked *next;
};

struct fit_device_queue {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    int busy;
    struct fit_device_asked *first, **end;
    /* 1: b can go with a. */
    int (*together)(const struct fit_device_asked *a, const struct fit_device_asked *b);
    /* 0, or -1: the device failed. */
    int (*serve)(void *user, size_t n, struct fit_device_asked *const *asked);
};

void fit_device_queue_begin(struct fit_device_queue *q);
void fit_device_queue_end(struct fit_device_queue *q);

/* Waits until the call is done; user: for serve. */
int fit_device_queue_ask(struct fit_device_queue *q, struct fit_device_asked *asked, void *user);
