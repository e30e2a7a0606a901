/* fuzz_model.c -- model files: the sandbox and the front of the compiler, dsl*.c and what it calls. */
#include "fuzz.h"

#include <string.h>

#include "generator/language/dsl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
        return 0;
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = nowhere};
    char *text = hg_alloc(a, size + 1);
    if (size)
        memcpy(text, data, size);
    const struct hg_model *m = hg_dsl_load_text(a, "fuzz.lua", text, &d);
    FUZZ_ASSERT((m != NULL) == (d.errors == 0));
    FUZZ_ASSERT(hg_arena_size(a) < (size_t)1 << 30);
    hg_arena_free(a);
    return 0;
}
