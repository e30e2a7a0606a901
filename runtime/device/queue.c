/* queue.c -- see queue.h. */
#include "device/queue.h"

void fit_device_queue_begin(struct fit_device_queue *q)
{
    q->first = NULL;
    q->end = &q->first;
    q->busy = 0;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->turn, NULL);
}

void fit_device_queue_end(struct fit_device_queue *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->turn);
}

/* Takes the calls that can be combined with the first one from the queue. */
static size_t take(struct fit_device_queue *q, struct fit_device_asked **asked)
{
    struct fit_device_asked *const first = q->first, **at = &q->first;
    size_t n = 0;
    q->end = &q->first;
    while (*at) {
        if (n < FIT_DEVICE_BATCH && q->together(first, *at)) {
            asked[n] = *at;
            asked[n++]->state = 1;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
            q->end = at;
        }
    }
    return n;
}

/* Number of waiting calls; the caller has the lock. */
static void serve(struct fit_device_queue *q, void *user)
{
    struct fit_device_asked *asked[FIT_DEVICE_BATCH];
    q->busy = 1;
    const size_t n = take(q, asked);
    pthread_mutex_unlock(&q->lock);
    const int failed = q->serve(user, n, asked);
    pthread_mutex_lock(&q->lock);
    for (size_t k = 0; k < n; k++) {
        asked[k]->failed = failed;
        asked[k]->state = 2;
    }
    q->busy = 0;
    pthread_cond_broadcast(&q->turn);
}

int fit_device_queue_ask(struct fit_device_queue *q, struct fit_device_asked *asked, void *user)
{
    asked->state = 0;
    asked->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->end = asked;
    q->end = &asked->next;
    while (asked->state != 2)
        if (q->busy || asked->state == 1)
            pthread_cond_wait(&q->turn, &q->lock);
        else
            serve(q, user);
    pthread_mutex_unlock(&q->lock);
    return asked->failed;
}
