/* fuzz.h -- what the fuzz targets share.
 *
 * A target is one file fuzz_NAME.c with the function LLVMFuzzerTestOneInput: it hands bytes of a
 * stranger to one reader of the project and asks what a reader owes to any input -- an answer or a
 * message, in bounded time and memory, with everything given back.  What it must hold besides
 * (reading again what was written, two decoders that agree) is asked with FUZZ_ASSERT.
 *
 * With clang and -DFIT_FUZZ=ON a target is a libFuzzer program; without, replay.c runs it over the
 * files and folders that are named on its command line: that is the test of every build. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_ASSERT(claim)                                                                         \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);                    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A file of this process with these bytes; the path is the same for every call, and the file goes
 * when the process ends in good order. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The path alone; whatever lies there was removed. */
const char *fuzz_no_file(void);

#endif
