/* memory.h -- memory of the compiler: everything lives until the program ends.
 *
 * One arena serves a run. No object is freed on its own; hg_arena_free returns everything (tests, leak checkers). When
 * memory runs out, the program prints a message and exits with status 1.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct hg_arena;

/* Reports that memory has run out; exits with status 1. */
_Noreturn void hg_out_of_memory(void);

struct hg_arena *hg_arena_new(void);
void hg_arena_free(struct hg_arena *a);

/* Bytes taken from the system so far. */
size_t hg_arena_size(const struct hg_arena *a);

/* n zeroed bytes, aligned for any type. */
void *hg_alloc(struct hg_arena *a, size_t n);

/* Copies of strings; hg_format is printf into the arena. */
char *hg_strdup(struct hg_arena *a, const char *s);
char *hg_format(struct hg_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *hg_format_list(struct hg_arena *a, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* n zeroed objects for temporary use. They are released by free(), or at the end of the scope of a pointer that is
 * declared HG_SCRATCH. */
void *hg_zeros(size_t n, size_t size);
void hg_scratch_free(void *pointer);
#define HG_SCRATCH __attribute__((cleanup(hg_scratch_free)))

/* Grows an array: returns a pointer to room for `want` items of `size` bytes, the first `have` copied.
 * *capacity is updated.  The old array stays in the arena. */
void *hg_grow(struct hg_arena *a, const void *array, size_t have, size_t want, size_t size,
              size_t *capacity);
