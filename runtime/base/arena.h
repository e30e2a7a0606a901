/* arena.h -- storage that is freed all at once, and remembers whether a request has failed.
 *
 * Who takes storage asks for all of it, and then once whether it is there:
 *
 *     FIT_SCRATCH(a);                                     an arena that ends with the function
 *     double *x = fit_take(&a, n, sizeof *x), *y, *z;
 *     FIT_TAKE_DOUBLES(&a, m, &y, &z);
 *     if (a.failed)
 *         return fit_no_memory(err, "fit");
 *
 * What belongs to an object comes from an arena inside the object, and goes with it.
 */
#pragma once

#include <stddef.h>

struct fit_arena {
    struct fit_arena_block *block; /* newest first; NULL: empty.  Start with all zero. */
    int failed;                    /* 1: a request could not be served; stays so */
};

/* n objects of so many bytes, all zero, aligned to 64 bytes; so many bytes more may be read.  They are valid until
 * fit_arena_free.  NULL: out of memory, and failed is set; n = 0 gives a place that is not to be used. */
void *fit_take(struct fit_arena *a, size_t n, size_t size);

/* The same for the vectors of n doubles to which the last arguments point. */
#define FIT_TAKE_DOUBLES(a, n, ...) \
    fit_take_each(a, n, (double **[]){__VA_ARGS__}, sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))
void fit_take_each(struct fit_arena *a, size_t n, double **const vector[], size_t nvector);

/* The same with whatever numbers: for what is written before it is read.  Large ones touch no page. */
void *fit_take_unset(struct fit_arena *a, size_t n, size_t size);

/* The same with n objects copied from `from`; NULL: zeros. */
void *fit_take_copy(struct fit_arena *a, const void *from, size_t n, size_t size);

/* The list of n objects of so many bytes with room for one more: itself, or a copy of twice the room.  NULL: out of
 * memory, and failed is set. */
void *fit_take_more(struct fit_arena *a, const void *list, size_t n, size_t size);

/* size zeroed bytes aligned for any type: for small objects.  NULL: out of memory, and failed is set. */
void *fit_arena_alloc(struct fit_arena *a, size_t size);

/* Copies of n bytes (a zero byte is added) and of a string; NULL: out of memory, and failed is set. */
char *fit_arena_copy(struct fit_arena *a, const char *text, size_t n);
char *fit_arena_string(struct fit_arena *a, const char *text);

/* Frees everything; the arena is empty and may be used again. */
void fit_arena_free(struct fit_arena *a);

/* An arena that is freed where its scope ends, on whatever way. */
#define FIT_SCRATCH(a) struct fit_arena a __attribute__((cleanup(fit_arena_free))) = {NULL, 0}

/* Before the declaration of a pointer: what it points to at the end of its scope is given to free(). */
#define FIT_OWNED __attribute__((cleanup(fit_owned_free)))
void fit_owned_free(void *pointer);
