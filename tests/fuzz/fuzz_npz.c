/* fuzz_npz.c -- files of numpy: npz.c member by member, then source.c and source_numpy.c. */
#include "fuzz.h"

#include "files/npz.h"
#include "input/source.h"

enum { MOST_VALUES = 1 << 20, MOST_FRAMES = 512 };

static void read_members(const char *file)
{
    struct fit_npz *z;
    struct fit_error err = {0};
    if (fit_npz_open(file, &z, &err) != FIT_OK) {
        FUZZ_ASSERT(!z && err.message[0]);
        return;
    }
    for (int k = 0; k < (int)fit_npz_count(z) && k < 16; k++) {
        const struct fit_npz_array *a = fit_npz_array(z, k);
        double *value;
        size_t n;
        char *text;
        if (fit_npz_read_text(z, k, &text, NULL) == FIT_OK)
            free(text);
        if (a->n < MOST_VALUES && fit_npz_read_all(z, k, &value, &n, NULL) == FIT_OK) {
            FUZZ_ASSERT(n == a->n);
            free(value);
        }
    }
    fit_npz_close(z);
}

static void read_source(const char *file)
{
    struct fit_source *s;
    struct fit_error err = {0};
    if (fit_source_open(file, NULL, &s, &err) != FIT_OK) {
        FUZZ_ASSERT(err.message[0]);
        return;
    }
    double *m = s->nframe <= MOST_FRAMES ? malloc((s->nframe * s->nframe + 1) * sizeof *m) : NULL;
    for (size_t k = 0; m && k < s->nmatrix && k < 4; k++) {
        fit_source_read(s, k, m, NULL);
        if (s->has_sigma)
            fit_source_read_sigma(s, k, m, NULL);
    }
    free(m);
    fit_source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *file = fuzz_file(data, size);
    if (!fit_npz_is_npz(file) && !fit_npz_is_npy(file))
        return 0;
    read_members(file);
    read_source(file);
    return 0;
}
