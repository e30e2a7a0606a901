/* fuzz_table.c -- tables of text: table_text.c.  The first byte chooses how they are read. */
#include "fuzz.h"

#include "input/table.h"
#include "input/table_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiter[8] = {0, 0, 0, 0, ',', ';', '\t', ' '};
    struct fit_table *t = NULL;
    struct fit_error err = {0};
    if (!size)
        return 0;
    struct fit_table_options o = {.delimiter = delimiter[data[0] & 7], .skip_rows = data[0] >> 6};
    if (fit_table_read_text(fuzz_file(data + 1, size - 1), &o, &t, &err) != FIT_OK) {
        FUZZ_ASSERT(err.message[0]);
        return 0;
    }
    double sum = 0;
    for (size_t c = 0; c < t->ncolumn; c++) {
        if (*t->name[c])
            FUZZ_ASSERT(fit_table_find(t, t->name[c]) >= 0);
        for (size_t r = 0; r < t->nrow; r++)
            sum += t->column[c][r];
    }
    volatile double used = sum; /* every value was read */
    (void)used;
    fit_table_free(t);
    return 0;
}
