/* fuzz_result.c -- results that are read back: frontend/result.c. */
#include "fuzz.h"

#include "frontend/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct front_result r;
    struct fit_error err = {0};
    if (front_result_read(fuzz_file(data, size), &r, &err) != FIT_OK) {
        FUZZ_ASSERT(err.message[0]);
        return 0;
    }
    FUZZ_ASSERT(r.nparam > 0);
    for (size_t k = 0; k < r.nparam; k++)
        FUZZ_ASSERT(front_result_param(&r, r.param[k].name) != NULL);
    front_result_free(&r);
    return 0;
}
