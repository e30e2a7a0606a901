/* shelf.c -- see shelf.h. */
#include "device/shelf.h"

#include "device/device.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fit_shelved *first;

void fit_shelf_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fit_shelf_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct fit_shelved *fit_shelf_find(const struct fit_device *d, void (*destroy)(struct fit_shelved *thing),
                                   int (*suits)(const struct fit_shelved *thing, const void *wanted),
                                   const void *wanted)
{
    struct fit_shelved *s = first;
    while (s && !(s->d == d && s->destroy == destroy && s->nused < s->nplace && suits(s, wanted)))
        s = s->next;
    return s;
}

static size_t occupied(const struct fit_device *d)
{
    size_t n = 0;
    for (const struct fit_shelved *s = first; s; s = s->next)
        n += s->d == d ? s->nused : 0;
    return n;
}

struct fit_device *fit_shelf_least(struct fit_device *d)
{
    struct fit_device *least = d;
    while ((d = fit_device_next(d)) != NULL)
        if (occupied(d) < occupied(least))
            least = d;
    return least;
}

void fit_shelf_clear(const struct fit_device *d)
{
    for (struct fit_shelved **at = &first, *s; (s = *at) != NULL;)
        if (s->d == d && s->nused == 0) {
            *at = s->next;
            s->destroy(s);
        } else {
            at = &s->next;
        }
}

void fit_shelf_put(struct fit_shelved *thing)
{
    thing->next = first;
    first = thing;
}

size_t fit_shelf_take(struct fit_shelved *thing)
{
    size_t place = 0;
    while (thing->used[place])
        place++;
    thing->used[place] = 1;
    thing->nused++;
    return place;
}

void fit_shelf_give_back(struct fit_shelved *thing, size_t place)
{
    thing->used[place] = 0;
    thing->nused--;
}

void fit_shelf_leave(struct fit_shelved *thing, size_t place)
{
    fit_shelf_lock();
    fit_shelf_give_back(thing, place);
    if (thing->nplace == 1)
        fit_shelf_clear(thing->d);
    fit_shelf_unlock();
}

void fit_shelf_close(const struct fit_device *d)
{
    fit_shelf_lock();
    fit_shelf_clear(d);
    fit_shelf_unlock();
}
