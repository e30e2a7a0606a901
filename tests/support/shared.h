/* shared.h -- where the reference data of the tests are.
 *
 * The folder is named by the environment variable FIT_SHARED; without it, ../shared beside the source.
 * Tests skip when it is absent:
 *     char path[1024];
 *     if (!shared_path(path, sizeof path, "golden/xpcs/golden_laminar_flow.h5"))
 *         skip();
 */
#ifndef TESTS_SHARED_H
#define TESTS_SHARED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef FIT_SOURCE_DIR
#define FIT_SOURCE_DIR "."
#endif

/* Writes the path of the file `name` and returns 1; prints why and returns 0 when it is not there. */
static inline int shared_path(char *path, size_t size, const char *name)
{
    const char *dir = getenv("FIT_SHARED");
    if (dir && *dir)
        snprintf(path, size, "%s/%s", dir, name);
    else
        snprintf(path, size, "%s/../shared/%s", FIT_SOURCE_DIR, name);
    if (access(path, R_OK) == 0)
        return 1;
    printf("skipped: no %s (set FIT_SHARED to the folder with reference data)\n", path);
    return 0;
}

#endif
