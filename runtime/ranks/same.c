/* same.c -- what must be the same in all ranks. See same.h. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "ranks/same.h"

#include "base/arena.h"
#include "common/regular.h"
#include "common/sha256.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 14, PIECES = 64, WHOLE = 1 << 24 /* bytes of a file that is read as a whole */ };

static double number_of(struct sha256 *s)
{
    unsigned char digest[SHA256_BYTES];
    double x = 0;
    sha256_final(s, digest);
    for (size_t k = 0; k < 6; k++)
        x = 256 * x + digest[k];
    return x;
}

double fit_ranks_number(const void *bytes, size_t n)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, bytes, n);
    return number_of(&s);
}

/* What a rank knows of a file; size -1: it cannot be read. */
struct sight {
    double size, number;
};

/* Of FILE:/dataset the file. */
static int open_file(const char *path)
{
    const char *colon = strrchr(path, ':');
    int fd = regular_descriptor(path);
    if (fd >= 0 || !colon)
        return fd;
    FIT_OWNED char *file = strdup(path);
    if (!file)
        return -1;
    file[colon - path] = '\0';
    return regular_descriptor(file);
}

static struct sight look_at(const char *path)
{
    FIT_OWNED unsigned char *piece = malloc(PIECE);
    struct sight seen = {-1, 0};
    struct sha256 s;
    struct stat is;
    const int fd = open_file(path);
    if (fd >= 0 && piece && fstat(fd, &is) == 0) {
        const off_t size = is.st_size, n = size <= WHOLE ? (size + PIECE - 1) / PIECE : PIECES;
        ssize_t got = 0;
        sha256_init(&s);
        for (off_t k = 0; k < n && got >= 0; k++) {
            got = pread(fd, piece, PIECE, size <= WHOLE ? k * PIECE : (size - PIECE) * k / (n - 1));
            sha256_update(&s, piece, got > 0 ? (size_t)got : 0);
        }
        seen.size = got < 0 ? -1 : (double)size;
        seen.number = got < 0 ? 0 : number_of(&s);
    }
    if (fd >= 0)
        close(fd);
    return seen;
}

/* The first rank whose n numbers are not those of rank 0; all: n numbers of each. */
static size_t first_odd(const double *all, size_t n)
{
    for (size_t r = 1; r < fit_ranks_size(); r++)
        for (size_t k = 0; k < n; k++)
            if (all[r * n + k] < all[k] || all[r * n + k] > all[k])
                return r;
    return 0;
}

/* Meeting: n numbers of each rank, which the caller frees; NULL: out of memory. */
static double *of_all(const double *own, size_t n)
{
    const size_t size = fit_ranks_size();
    double *all = calloc(size * n, sizeof *all);
    FIT_OWNED size_t *count = calloc(size, sizeof *count);
    for (size_t r = 0; count && r < size; r++)
        count[r] = n;
    if (all && count)
        fit_ranks_gather(own, count, all);
    return all && count ? all : (free(all), NULL);
}

size_t fit_ranks_odd(const void *bytes, size_t n)
{
    const double own = fit_ranks_shared() ? fit_ranks_number(bytes, n) : 0;
    FIT_OWNED double *all = fit_ranks_shared() ? of_all(&own, 1) : NULL;
    return all ? first_odd(all, 1) : 0;
}

enum fit_status fit_ranks_same_file(const char *what, const char *path, enum fit_status failure, struct fit_error *err)
{
    if (!fit_ranks_shared())
        return FIT_OK;
    const struct sight own = look_at(path);
    char here[FIT_RANKS_WHERE], there[FIT_RANKS_WHERE];
    FIT_OWNED double *all = of_all(&own.size, 2);
    const size_t r = all ? first_odd(all, 2) : 0;
    if (!all)
        return fit_no_memory(err, path);
    if (!r)
        return FIT_OK;
    const double first = all[0], other = all[2 * r];
    fit_ranks_where(0, here);
    fit_ranks_where(r, there);
    if (first < 0 || other < 0)
        return fit_fail(err, failure, "%s: %s cannot read %s, which %s can: all ranks need the same file", path,
                        first < 0 ? here : there, what, first < 0 ? there : here);
    if (first < other || first > other)
        return fit_fail(err, failure,
                        "%s: %s of %s has %.0f bytes, that of %s %.0f: all ranks need the same file", path, what, here,
                        first, there, other);
    return fit_fail(err, failure,
                    "%s: %s of %s and of %s have the same size and different contents: all ranks need the same file",
                    path, what, here, there);
}
