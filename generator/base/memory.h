/* memory.h -- memory of the compiler: everything lives until the program ends.
 *
 * One arena serves a run.  Nothing is freed singly; hg_arena_free gives all back (tests, leak checkers).
 * Out of memory prints a message and exits with status 1: a compiler has nothing better to do.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct hg_arena;

/* Says so and ends the program with status 1. */
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

/* n zeroed objects for a while: to be released by free(), or where the scope of a pointer ends that is declared
 * HG_SCRATCH. */
void *hg_zeros(size_t n, size_t size);
void hg_scratch_free(void *pointer);
#define HG_SCRATCH __attribute__((cleanup(hg_scratch_free)))

/* Grows an array: returns a pointer to room for `want` items of `size` bytes, the first `have` copied.
 * *capacity is updated.  The old array stays in the arena. */
void *hg_grow(struct hg_arena *a, const void *array, size_t have, size_t want, size_t size,
              size_t *capacity);
