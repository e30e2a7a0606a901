/* arena.c -- memory that is freed all at once. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 16384

struct fit_arena_block {
    struct fit_arena_block *next;
    size_t used, size;
    max_align_t data[];
};

void *fit_arena_alloc(struct fit_arena *a, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    const size_t need = (size / unit + 1) * unit;
    struct fit_arena_block *b = a->block;
    if (!b || b->size - b->used < need) {
        const size_t bytes = need > BLOCK ? need : BLOCK;
        b = calloc(1, sizeof *b + bytes);
        if (!b)
            return NULL;
        b->size = bytes;
        b->next = a->block;
        a->block = b;
    }
    void *p = (char *)b->data + b->used;
    b->used += need;
    return p;
}

char *fit_arena_copy(struct fit_arena *a, const char *text, size_t n)
{
    char *p = fit_arena_alloc(a, n + 1);
    if (p && n)
        memcpy(p, text, n);
    return p;
}

char *fit_arena_string(struct fit_arena *a, const char *text)
{
    return fit_arena_copy(a, text, strlen(text));
}

void fit_arena_free(struct fit_arena *a)
{
    while (a->block) {
        struct fit_arena_block *next = a->block->next;
        free(a->block);
        a->block = next;
    }
}
