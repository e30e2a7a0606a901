/* identity.c -- size and SHA-256 of a file. */
#include "base/identity.h"

#include "common/regular.h"
#include "common/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16, /* bytes: fits the second-level cache between copy and hash */
    PAGE =
        1
        << 12 /* a copy to an address a few bytes behind the page offset of its source, as malloc gives, is four
               * times slower */
};

enum fit_status fit_file_identity(const char *file, char sha256[65], uint64_t *size,
                                  struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    struct sha256 s;
    unsigned char digest[SHA256_BYTES], *piece = aligned_alloc(PAGE, PIECE);
    int fd = regular_descriptor(file);
    *size = 0;
    sha256[0] = 0;
    sha256_init(&s);
    if (!piece) {
        st = fit_no_memory(err, file);
        goto done;
    }
    if (fd < 0) {
        st = fit_fail(err, FIT_ERR_IO, "%s: %s", file, strerror(errno));
        goto done;
    }
    for (;;) {
        ssize_t n = read(fd, piece, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            st = fit_fail(err, FIT_ERR_IO, "%s: %s", file, strerror(errno));
            goto done;
        }
        if (n == 0)
            break;
        sha256_update(&s, piece, (size_t)n);
        *size += (uint64_t)n;
    }
    sha256_final(&s, digest);
    sha256_hex(digest, sha256);
done:
    if (fd >= 0)
        close(fd);
    free(piece);
    return st;
}
