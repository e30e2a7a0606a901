/* memory.c -- memory of the compiler: large blocks, filled from front to back. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 18 };

struct block {
    struct block *next;
    size_t used, size;          /* of data[] */
    _Alignas(max_align_t) unsigned char data[];
};

struct hg_arena {
    struct block *block;        /* the block being filled; older ones follow */
    size_t total;
};

_Noreturn void hg_out_of_memory(void)
{
    fputs("homodyne-gen: out of memory\n", stderr);
    exit(1);
}

static struct block *new_block(struct hg_arena *a, struct block *next, size_t size)
{
    struct block *b = size <= SIZE_MAX - sizeof *b ? malloc(sizeof *b + size) : NULL;
    if (!b)
        hg_out_of_memory();
    a->total += sizeof *b + size;
    b->next = next;
    b->used = 0;
    b->size = size;
    return b;
}

struct hg_arena *hg_arena_new(void)
{
    struct hg_arena *a = malloc(sizeof *a);
    if (!a)
        hg_out_of_memory();
    a->total = 0;
    a->block = new_block(a, NULL, BLOCK_SIZE);
    return a;
}

void hg_arena_free(struct hg_arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->block, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

size_t hg_arena_size(const struct hg_arena *a)
{
    return a->total;
}

void *hg_alloc(struct hg_arena *a, size_t n)
{
    const size_t unit = _Alignof(max_align_t);
    if (n > SIZE_MAX - unit)
        hg_out_of_memory();
    n = (n + unit - 1) / unit * unit;
    if (n > a->block->size - a->block->used) {
        if (n >
            BLOCK_SIZE / 4) { /* a block of its own, after the current one, which stays in use */
            struct block *own = new_block(a, a->block->next, n);
            a->block->next = own;
            own->used = n;
            return memset(own->data, 0, n);
        }
        a->block = new_block(a, a->block, BLOCK_SIZE);
    }
    void *p = a->block->data + a->block->used;
    a->block->used += n;
    return memset(p, 0, n);
}

void *hg_zeros(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        hg_out_of_memory();
    return p;
}

void hg_scratch_free(void *pointer)
{
    void *p;
    memcpy(&p, pointer, sizeof p);
    free(p);
}

char *hg_strdup(struct hg_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(hg_alloc(a, n), s, n);
}

char *hg_format_list(struct hg_arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *s = hg_alloc(a, size);
    vsnprintf(s, size, format, again);
    va_end(again);
    return s;
}

char *hg_format(struct hg_arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *s = hg_format_list(a, format, args);
    va_end(args);
    return s;
}

void *hg_grow(struct hg_arena *a, const void *array, size_t have, size_t want, size_t size,
              size_t *capacity)
{
    if (array && want <= *capacity)
        return (void *)(uintptr_t)array; /* const is the caller's promise to itself */
    size_t n = *capacity ? *capacity : 8;
    while (n < want) {
        if (n > SIZE_MAX / 2)
            hg_out_of_memory();
        n *= 2;
    }
    if (n > SIZE_MAX / size)
        hg_out_of_memory();
    void *p = hg_alloc(a, n * size);
    if (have)
        memcpy(p, array, have * size);
    *capacity = n;
    return p;
}
