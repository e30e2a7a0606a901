/* arena.c -- storage that is freed all at once; see arena.h.
 *
 * Small requests share blocks, each larger than the one before, and are cleared one by one; what would fill a good part
 * of a block gets its own, from calloc(), so that pages of large vectors exist when they are used.  Under AddressSanitizer every request has its
 * own, for then what is written beyond it is seen.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR = 64, FIRST_BLOCK = 1008, LAST_BLOCK = 16384 }; /* bytes; glibc keeps the first for the thread */

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { SHARED = 0 };
#else
enum { SHARED = 2048 }; /* larger requests have a block of their own */
#endif

struct fit_arena_block {
    struct fit_arena_block *next;
    size_t used, size; /* of the bytes behind this head */
};

/* A place of so many bytes at a multiple of unit; NULL: the block is full. */
static void *place(struct fit_arena_block *b, size_t bytes, size_t unit)
{
    char *at = (char *)(b + 1) + b->used;
    const size_t gap = (size_t)(-(uintptr_t)at & (unit - 1));
    if (b->size - b->used < gap + bytes)
        return NULL;
    b->used += gap + bytes;
    return at + gap;
}

/* A block with room for so many bytes.  One of its own stands behind the newest, which may have room still, and is
 * cleared unless `set`, which tells it. */
static struct fit_arena_block *new_block(struct fit_arena *a, size_t bytes, int *set)
{
    size_t shared = !a->block ? FIRST_BLOCK : a->block->size < LAST_BLOCK ? 2 * a->block->size : LAST_BLOCK;
    const int own = bytes > SHARED || bytes > shared;
    const size_t size = sizeof(struct fit_arena_block) + (own ? bytes : shared);
    struct fit_arena_block *b = own && !*set ? calloc(1, size) : malloc(size);
    if (!b)
        return NULL;
    *set |= own;
    b->used = 0;
    b->size = own ? bytes : shared;
    struct fit_arena_block **before = own && a->block ? &a->block->next : &a->block;
    b->next = *before;
    *before = b;
    return b;
}

static void *take(struct fit_arena *a, size_t bytes, size_t unit, int unset)
{
    const int possible = bytes <= SIZE_MAX / 2;
    void *p = possible && a->block ? place(a->block, bytes, unit) : NULL;
    int set = unset; /* its contents are what was asked for */
    struct fit_arena_block *b = possible && !p ? new_block(a, bytes + unit, &set) : NULL;
    if (b)
        p = place(b, bytes, unit);
    a->failed |= !p;
    return p && !set ? memset(p, 0, bytes) : p;
}

/* Bytes of n objects; SIZE_MAX: too many. */
static size_t bytes_of(size_t n, size_t size)
{
    return n > SIZE_MAX / 4 / size ? SIZE_MAX : n * size + VECTOR;
}

void *fit_take(struct fit_arena *a, size_t n, size_t size)
{
    return take(a, bytes_of(n, size), VECTOR, 0);
}

void *fit_take_unset(struct fit_arena *a, size_t n, size_t size)
{
    return take(a, bytes_of(n, size), VECTOR, 1);
}

void fit_take_each(struct fit_arena *a, size_t n, double **const vector[], size_t nvector)
{
    for (size_t k = 0; k < nvector; k++)
        *vector[k] = fit_take(a, n, sizeof **vector[k]);
}

void *fit_take_copy(struct fit_arena *a, const void *from, size_t n, size_t size)
{
    void *p = fit_take(a, n, size);
    return p && from && n ? memcpy(p, from, n * size) : p;
}

void *fit_take_more(struct fit_arena *a, const void *list, size_t n, size_t size)
{
    if (n & (n - 1)) /* not a power of two: the room was doubled when it was one */
        return (void *)(uintptr_t)list;
    void *more = fit_take(a, n ? 2 * n : 1, size);
    if (more && n)
        memcpy(more, list, n * size);
    return more;
}

void *fit_arena_alloc(struct fit_arena *a, size_t size)
{
    return take(a, size, sizeof(max_align_t), 0);
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

void fit_owned_free(void *pointer)
{
    void *p;
    memcpy(&p, pointer, sizeof p);
    free(p);
}

void fit_arena_free(struct fit_arena *a)
{
    while (a->block) {
        struct fit_arena_block *next = a->block->next;
        free(a->block);
        a->block = next;
    }
    a->failed = 0;
}
