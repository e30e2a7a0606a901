/* arena.c -- storage that is freed all at once; see arena.h.
 *
 * Small requests share blocks, each larger than the one before, and are cleared one by one; a request that would fill a
 * good part of a block gets its own. Large ones come from calloc(), so that pages of large vectors come into existence
 * when they are used. Fits of small data request the same blocks by the thousand, and malloc() is slow above a
 * kilobyte, so a thread keeps some of the blocks it has freed. Under AddressSanitizer every request has its own block,
 * so that writes beyond it are detected.
 */
#include "base/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR = 64, KINDS = 5, FIRST_BLOCK = 1024, LAST_BLOCK = FIRST_BLOCK << (KINDS - 1) }; /* bytes, with heads */

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { SHARED = 0, KEPT = 0 };
#elif defined FIT_KEEP_NO_BLOCKS /* valgrind: reads of a block before it is written are detected */
enum { SHARED = 2048, KEPT = 0 };
#else
enum { SHARED = 2048, KEPT = 6 }; /* larger requests have their own block; a thread keeps at most KEPT of a size */
#endif

struct fit_arena_block {
    struct fit_arena_block *next;
    size_t used, size; /* of the bytes behind this head */
};

/* ---- blocks of the thread -------------------------------------------------------------------- */

struct spare {
    struct fit_arena_block *first[KINDS]; /* of FIRST_BLOCK << k bytes */
    int n[KINDS], known;                  /* known: the thread's end will free them */
};

static _Thread_local struct spare spare;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void free_spare(void *mine)
{
    struct spare *s = mine;
    for (size_t k = 0; k < KINDS; k++)
        while (s->first[k]) {
            struct fit_arena_block *next = s->first[k]->next;
            free(s->first[k]);
            s->first[k] = next;
        }
    *s = (struct spare){0};
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, free_spare) == 0;
}

/* The kind with room for so many bytes, head included; KINDS: none. */
static size_t kind_of(size_t bytes)
{
    size_t k = 0;
    while (k < KINDS && bytes > (size_t)FIRST_BLOCK << k)
        k++;
    return k;
}

static struct fit_arena_block *block_of(size_t kind)
{
    struct fit_arena_block *b = spare.first[kind];
    if (!b)
        return malloc((size_t)FIRST_BLOCK << kind);
    spare.first[kind] = b->next;
    spare.n[kind]--;
    return b;
}

static void give_back(struct fit_arena_block *b)
{
    const size_t kind = kind_of(b->size + sizeof *b);
    if (kind == KINDS || spare.n[kind] >= KEPT) {
        free(b);
        return;
    }
    if (!spare.known) {
        pthread_once(&once, make_key);
        spare.known = has_key && pthread_setspecific(key, &spare) == 0;
        if (!spare.known) {
            free(b);
            return;
        }
    }
    b->next = spare.first[kind];
    spare.first[kind] = b;
    spare.n[kind]++;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Room for so many bytes at a multiple of unit; NULL: the block is full. */
static void *place(struct fit_arena_block *b, size_t bytes, size_t unit)
{
    char *at = (char *)(b + 1) + b->used;
    const size_t gap = (size_t)(-(uintptr_t)at & (unit - 1));
    if (b->size - b->used < gap + bytes)
        return NULL;
    b->used += gap + bytes;
    return at + gap;
}

/* A block with room for so many bytes. A request's own block goes behind the newest one, which may still have room.
 * *set, in: any contents will do; out: the contents need not be cleared. */
static struct fit_arena_block *new_block(struct fit_arena *a, size_t bytes, int *set)
{
    const size_t head = sizeof(struct fit_arena_block), newest = a->block ? a->block->size + head : 0;
    const size_t shared = !newest ? FIRST_BLOCK : newest < LAST_BLOCK ? 2 * newest : LAST_BLOCK;
    const int own = bytes > SHARED || bytes + head > shared;
    const size_t kind = SHARED ? kind_of(own ? bytes + head : shared) : KINDS;
    const size_t size = kind < KINDS ? ((size_t)FIRST_BLOCK << kind) - head : bytes;
    struct fit_arena_block *b = kind < KINDS ? block_of(kind) : *set ? malloc(size + head) : calloc(1, size + head);
    if (!b)
        return NULL;
    *set |= kind == KINDS;
    b->used = 0;
    b->size = size;
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
    if (n & (n - 1)) /* not a power of two: the room was doubled when n was one */
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
        give_back(a->block);
        a->block = next;
    }
    a->failed = 0;
}
