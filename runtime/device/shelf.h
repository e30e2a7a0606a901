/* shelf.h -- what lies on devices for several evaluations at once, and stays there for later ones.
 *
 * A thing on the shelf has places, each for the data of one evaluation.  One that nobody uses stays until room is made
 * for another, or the device is closed; one with a single place goes at once, for it is large or stands alone. */
#pragma once

#include <stddef.h>

struct fit_device;

/* The first member of what is put there. */
struct fit_shelved {
    struct fit_device *d;
    size_t nplace, nused;
    unsigned char *used; /* nplace: 1 where an evaluation has its data */
    void (*destroy)(struct fit_shelved *thing);
    struct fit_shelved *next;
};

/* One thread at a time; all but fit_shelf_leave and fit_shelf_close are called between these two. */
void fit_shelf_lock(void);
void fit_shelf_unlock(void);

/* A thing of this device and kind (that of `destroy`) with a free place that suits; NULL: none. */
struct fit_shelved *fit_shelf_find(const struct fit_device *d, void (*destroy)(struct fit_shelved *thing),
                                   int (*suits)(const struct fit_shelved *thing, const void *wanted),
                                   const void *wanted);
/* Destroys what nobody uses on the device: room for another thing. */
void fit_shelf_clear(const struct fit_device *d);
void fit_shelf_put(struct fit_shelved *thing);

/* A free place of a thing that has one, for the caller; it is given back by one of the others, the second of which
 * takes the lock itself. */
size_t fit_shelf_take(struct fit_shelved *thing);
void fit_shelf_give_back(struct fit_shelved *thing, size_t place);
void fit_shelf_leave(struct fit_shelved *thing, size_t place);

/* The device is about to be closed; nobody uses what lies there. */
void fit_shelf_close(const struct fit_device *d);
