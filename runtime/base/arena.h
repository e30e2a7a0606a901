/* arena.h -- memory that is freed all at once: for configuration trees and their strings. */
#ifndef FIT_ARENA_H
#define FIT_ARENA_H

#include <stddef.h>

struct fit_arena {
    struct fit_arena_block *block; /* newest first; NULL: empty.  Start with all zero. */
};

/* size zeroed bytes aligned for any type, valid until fit_arena_free; NULL: out of memory. */
void *fit_arena_alloc(struct fit_arena *a, size_t size);

/* Copies of n bytes (a zero byte is added) and of a string; NULL: out of memory. */
char *fit_arena_copy(struct fit_arena *a, const char *text, size_t n);
char *fit_arena_string(struct fit_arena *a, const char *text);

void fit_arena_free(struct fit_arena *a);

#endif
