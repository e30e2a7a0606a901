/* arena.h -- storage that is freed all at once, and remembers whether a request has failed.
 *
 * Request all storage first, then check once:
 *
 *     FIT_SCRATCH(a);                                     an arena that ends with the function
 *     double *x = fit_take(&a, n, sizeof *x), *y, *z;
 *     FIT_TAKE_DOUBLES(&a, m, &y, &z);
 *     if (a.failed)
 *         return fit_no_memory(err, "fit");
 *
 * The storage of an object comes from an arena inside the object, and is freed with it.
 */
#pragma once

#include <stddef.h>

struct fit_arena {
    struct fit_arena_block *block; /* newest first; NULL: empty.  Start with all zero. */
    int failed;                    /* 1: a request could not be served; stays so */
};

/* n objects of so many bytes, all zero, aligned to 64 bytes; so many bytes more may be read. They are valid until
 * fit_arena_free. NULL: out of memory, and failed is set; for n = 0 the pointer must not be used. */
void *fit_take(struct fit_arena *a, size_t n, size_t size);

/* The same for the vectors of n doubles to which the last arguments point. */
#define FIT_TAKE_DOUBLES(a, n, ...) \
    fit_take_each(a, n, (double **[]){__VA_ARGS__}, sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))
void fit_take_each(struct fit_arena *a, size_t n, double **const vector[], size_t nvector);

/* The same, uninitialised: for storage that is written before it is read. Large requests touch no page. */
void *fit_take_unset(struct fit_arena *a, size_t n, size_t size);

/* The same with n objects copied from `from`; NULL: zeros. */
void *fit_take_copy(struct fit_arena *a, const void *from, size_t n, size_t size);

/* A list of n objects of so many bytes with room for one more: the list itself, or a copy with twice the room. NULL:
 * out of memory, and failed is set. */
void *fit_take_more(struct fit_arena *a, const void *list, size_t n, size_t size);

/* size zeroed bytes aligned for any type: for small objects.  NULL: out of memory, and failed is set. */
void *fit_arena_alloc(struct fit_arena *a, size_t size);

/* Copies of n bytes (a zero byte is added) and of a string; NULL: out of memory, and failed is set. */
char *fit_arena_copy(struct fit_arena *a, const char *text, size_t n);
char *fit_arena_string(struct fit_arena *a, const char *text);

/* Frees everything; the arena is empty and may be used again. */
void fit_arena_free(struct fit_arena *a);

/* An arena that is freed where its scope ends, whatever the way out. */
#define FIT_SCRATCH(a) struct fit_arena a __attribute__((cleanup(fit_arena_free))) = {NULL, 0}

/* Put before the declaration of a pointer: free() is called on its value at the end of its scope. */
#define FIT_OWNED __attribute__((cleanup(fit_owned_free)))
void fit_owned_free(void *pointer);
