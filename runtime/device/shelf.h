/* shelf.h -- data on devices that serve several evaluations at once, and are kept for later ones.
 *
 * An object on the shelf has slots, each for the data of one evaluation. An unused object stays until room is needed
 * for another, or the device is closed; one with a single slot is freed at once, because it is large or not shared. */
#pragma once

#include <stddef.h>

struct fit_device;

/* The first member of an object on the shelf. */
struct fit_shelved {
    struct fit_device *d;
    size_t nplace, nused;
    unsigned char *used; /* nplace: 1 where a slot is occupied */
    void (*destroy)(struct fit_shelved *thing);
    struct fit_shelved *next;
};

/* One thread at a time; all but fit_shelf_leave and fit_shelf_close are called between these two. */
void fit_shelf_lock(void);
void fit_shelf_unlock(void);

/* An object of this device and kind (that of `destroy`) with a matching free slot; NULL: none. */
struct fit_shelved *fit_shelf_find(const struct fit_device *d, void (*destroy)(struct fit_shelved *thing),
                                   int (*suits)(const struct fit_shelved *thing, const void *wanted),
                                   const void *wanted);
/* Of d and the devices that share sums with it, the one with the fewest occupied slots. */
struct fit_device *fit_shelf_least(struct fit_device *d);
/* Destroys unused objects of the device, to make room. */
void fit_shelf_clear(const struct fit_device *d);
void fit_shelf_put(struct fit_shelved *thing);

/* A free slot of an object that has one, for the caller; one of the others returns it, the second of which takes the
 * lock itself. */
size_t fit_shelf_take(struct fit_shelved *thing);
void fit_shelf_give_back(struct fit_shelved *thing, size_t place);
void fit_shelf_leave(struct fit_shelved *thing, size_t place);

/* The device is about to be closed; nothing on it is in use. */
void fit_shelf_close(const struct fit_device *d);
