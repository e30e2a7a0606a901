/* leak.c -- a target that loses memory with every input: builds that look for leaks must say so (test fuzz-leak), else
 * their runs of the corpus prove nothing about leaks. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *volatile lost = malloc(size + 100);
    FUZZ_ASSERT(lost != NULL);
    lost[0] = size ? (char)data[0] : 0;
    lost = NULL;
    return 0;
}
