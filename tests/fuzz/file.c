/* file.c -- the one file of a fuzz target, in memory where the machine has /dev/shm; see fuzz.h. */
#include "fuzz.h"

#include <unistd.h>

static char path[64];

static void forget(void)
{
    unlink(path);
}

const char *fuzz_no_file(void)
{
    if (!path[0]) {
        const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(path, sizeof path, "%s/homodyne-fuzz-%ld", folder, (long)getpid());
        atexit(forget);
    }
    unlink(path);
    return path;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    FILE *f = fopen(fuzz_no_file(), "wb");
    FUZZ_ASSERT(f != NULL);
    FUZZ_ASSERT(size == 0 || fwrite(data, 1, size, f) == size);
    FUZZ_ASSERT(fclose(f) == 0);
    return path;
}
