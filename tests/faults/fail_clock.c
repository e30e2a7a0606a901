/* fail_clock.c -- a library to preload, in which the time of day jumps: each question is answered with a day
 * more or a day less than the answer before.  CLOCK_MONOTONIC goes on as it should. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400 };

static time_t jump(void)
{
    static atomic_uint count;
    unsigned k = atomic_fetch_add(&count, 1);
    return k % 3 == 0 ? DAY : k % 3 == 1 ? -DAY : 3 * DAY;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int answer = (int)syscall(SYS_clock_gettime, id, t);
    if (answer == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        t->tv_sec += jump();
    return answer;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}
