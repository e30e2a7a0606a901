/* checkpoint.c -- writing and reading of checkpoints; see checkpoint.h. */
#include "sampler/checkpoint.h"

#include "machine/memory.h"

#include "common/sha256.h"
#include "ranks/ranks.h"
#include "common/unique.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[] = "homodyne-gen checkpoint ", VERSION[] = "4\n", RUN[] = "run ";
enum { WORD = 8, NCOUNT = 5, NSCALAR = 7 };
enum { OTHER = sizeof((struct fit_checkpoint *)0)->other_text, START = sizeof((struct fit_checkpoint *)0)->start_text };

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_words(unsigned char **at, size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t v;
        memcpy(&v, &x[k], sizeof v);
        for (int b = 0; b < WORD; b++)
            *(*at)++ = (unsigned char)(v >> (8 * b));
    }
}

static void get_words(const unsigned char **at, size_t n, double *x)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t v = 0;
        for (int b = 0; b < WORD; b++)
            v |= (uint64_t) * (*at)++ << (8 * b);
        memcpy(&x[k], &v, sizeof v);
    }
}

/* Doubles of the arrays. */
static size_t numbers(const struct fit_checkpoint *c)
{
    return c->nparam + c->nlin + c->ngroup + c->ncoordinate + c->ncoordinate * c->ncoordinate;
}

/* Bytes between the lines of text and the state. */
static size_t fixed_size(const struct fit_checkpoint *c)
{
    return (NCOUNT + NSCALAR + numbers(c)) * WORD + OTHER + START;
}

struct piece {
    const unsigned char *bytes;
    size_t size;
};

static void digest(const struct piece *piece, size_t npiece, unsigned char out[SHA256_BYTES])
{
    struct sha256 s;
    sha256_init(&s);
    for (size_t k = 0; k < npiece; k++)
        sha256_update(&s, piece[k].bytes, piece[k].size);
    sha256_final(&s, out);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_fixed(unsigned char *at, const struct fit_checkpoint *c)
{
    const double count[NCOUNT] = {(double)c->nparam, (double)c->nlin, (double)c->ngroup,
                                  (double)c->ncoordinate, (double)c->size};
    const double scalar[NSCALAR] = {c->weak, c->seconds, c->passes, c->finished, c->plain_rates, c->starts,
                                    c->other_mass};
    put_words(&at, NCOUNT, count);
    put_words(&at, NSCALAR, scalar);
    memcpy(at, c->other_text, OTHER);
    memcpy(at + OTHER, c->start_text, START);
    at += OTHER + START;
    put_words(&at, c->nparam, c->theta);
    put_words(&at, c->nlin, c->lin);
    put_words(&at, c->ngroup, c->sigma);
    put_words(&at, c->ncoordinate, c->mode);
    put_words(&at, c->ncoordinate * c->ncoordinate, c->covariance);
}

static int write_piece(int fd, const struct piece *p)
{
    for (size_t done = 0; done < p->size;) {
        ssize_t n = write(fd, p->bytes + done, p->size - done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The pieces one after the other to a file beside `path`, to the disk, and then in its place.  0, or -1 with errno. */
static int write_file(const char *path, const struct piece *piece, size_t npiece)
{
    char temporary[4096];
    const int fd = unique_beside(path, temporary, sizeof temporary);
    int bad = fd < 0;
    for (size_t k = 0; !bad && k < npiece; k++)
        bad = write_piece(fd, &piece[k]) != 0;
    if (!bad && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        bad = 1;
    if (!bad && rename(temporary, path) != 0)
        bad = 1;
    const int why = errno;
    if (fd >= 0 && bad)
        unlink(temporary);
    if (fd >= 0)
        close(fd); /* after the rename: the lock has kept it from being swept away */
    errno = why;
    return bad ? -1 : 0;
}

enum fit_status fit_checkpoint_write(const char *path, const char *identity,
                                     const struct fit_checkpoint *c, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const size_t text = strlen(MAGIC) + strlen(VERSION) + strlen(RUN) + strlen(c->run) + 1 + strlen(identity) + 1;
    const size_t size = text + fixed_size(c);
    unsigned char *head = fit_take(&a, size, 1), sum[SHA256_BYTES];
    enum fit_status st = FIT_OK;
    if (!head)
        return fit_no_memory(err, path);
    sprintf((char *)head, "%s%s%s%s\n%s\n", MAGIC, VERSION, RUN, c->run, identity);
    put_fixed(head + text, c);
    const struct piece piece[] = {{head, size}, {c->state, c->size}, {sum, SHA256_BYTES}};
    digest(piece, 2, sum);
    if (write_file(path, piece, sizeof piece / sizeof *piece) != 0)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The file must be long enough, of this version, and fit into memory. */
static enum fit_status look_at(const char *path, FILE *f, size_t *size, struct fit_error *err)
{
    struct stat s;
    char head[sizeof MAGIC + sizeof VERSION] = "";
    const size_t magic = strlen(MAGIC), version = strlen(VERSION);
    if (fstat(fileno(f), &s) != 0 || !S_ISREG(s.st_mode))
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: no regular file", path);
    *size = (size_t)s.st_size;
    const size_t n = fread(head, 1, magic + version, f);
    if (n < magic + version || *size < n + 1 + SHA256_BYTES || memcmp(head, MAGIC, magic) != 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: no checkpoint", path);
    if (memcmp(head + magic, VERSION, version) != 0)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: a checkpoint of version %.1s of its format, where this program reads version %.1s; go on"
                        " with the program that wrote it, or begin anew without --resume",
                        path, head + magic, VERSION);
    if (!fit_memory_room((double)*size))
        return fit_fail(err, FIT_ERR_MEMORY, "%s: has %.0f MB, more than the memory that is left (%.0f MB)", path,
                        (double)*size / 1e6, fit_memory_available_mb());
    rewind(f);
    return FIT_OK;
}

static enum fit_status read_file(const char *path, unsigned char **bytes, size_t *size,
                                 struct fit_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not wait for who writes to a pipe */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    *bytes = NULL;
    if (!f) {
        fit_fail(err, FIT_ERR_IO, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return FIT_ERR_IO;
    }
    enum fit_status st = look_at(path, f, size, err);
    if (st == FIT_OK && !(*bytes = malloc(*size + 1)))
        st = fit_no_memory(err, path);
    if (st == FIT_OK && fread(*bytes, 1, *size, f) != *size)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be read", path);
    fclose(f);
    return st;
}

/* Length of a line without its end. */
static size_t line_of(const char *text)
{
    return strcspn(text, "\n");
}

/* Reports the first line that differs. */
static enum fit_status compare(const char *path, const char *there, const char *here,
                               struct fit_error *err)
{
    while (*there && *here && line_of(there) == line_of(here) &&
           strncmp(there, here, line_of(there)) == 0) {
        there += line_of(there) + (there[line_of(there)] != 0);
        here += line_of(here) + (here[line_of(here)] != 0);
    }
    if (!*there && !*here)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "%s is of another run: \"%.*s\" there, \"%.*s\" here", path,
                    (int)line_of(there), there, (int)line_of(here), here);
}

static double *array(struct fit_arena *a, const unsigned char **at, size_t n)
{
    double *x = fit_take(a, n, sizeof *x);
    if (x)
        get_words(at, n, x);
    return x;
}

/* size: bytes of the body at `at` in the block, which becomes that of the state; 0 as the result: the counts do not
 * match the size. */
static int get_body(unsigned char **block, const unsigned char *at, size_t size, struct fit_checkpoint *c)
{
    double count[NCOUNT], scalar[NSCALAR];
    if (size < (NCOUNT + NSCALAR) * WORD + OTHER + START)
        return 0;
    get_words(&at, NCOUNT, count);
    get_words(&at, NSCALAR, scalar);
    for (int k = 0; k < NCOUNT; k++)
        if (!(count[k] >= 0 && count[k] <= (double)size))
            return 0;
    *c = (struct fit_checkpoint){.nparam = (size_t)count[0],
                                 .nlin = (size_t)count[1],
                                 .ngroup = (size_t)count[2],
                                 .ncoordinate = (size_t)count[3],
                                 .size = (size_t)count[4],
                                 .weak = scalar[0],
                                 .seconds = scalar[1],
                                 .passes = scalar[2],
                                 .finished = scalar[3],
                                 .plain_rates = scalar[4],
                                 .starts = scalar[5],
                                 .other_mass = scalar[6]};
    memcpy(c->other_text, at, OTHER - 1); /* the last of each stays 0 */
    memcpy(c->start_text, at + OTHER, START - 1);
    at += OTHER + START;
    if (c->ncoordinate > 65536 || fixed_size(c) + c->size != size)
        return 0;
    c->theta = array(&c->storage_, &at, c->nparam);
    c->lin = array(&c->storage_, &at, c->nlin);
    c->sigma = array(&c->storage_, &at, c->ngroup);
    c->mode = array(&c->storage_, &at, c->ncoordinate);
    c->covariance = array(&c->storage_, &at, c->ncoordinate * c->ncoordinate);
    c->state = memmove(*block, at, c->size); /* there may be no memory for it twice */
    *block = NULL;
    return 1;
}

/* The blank line behind the head, of bytes whose checksum agrees; size: without the sum. */
static char *end_of_head(const char *path, unsigned char *bytes, size_t size, struct fit_error *err)
{
    unsigned char sum[SHA256_BYTES];
    digest(&(struct piece){bytes, size}, 1, sum);
    if (memcmp(sum, bytes + size, SHA256_BYTES) != 0) {
        fit_fail(err, FIT_ERR_DATA, "%s: damaged (its checksum does not agree); remove it to begin anew", path);
        return NULL;
    }
    bytes[size] = 0;
    char *end = strstr((char *)bytes, "\n\n"); /* text has no zero bytes */
    if (!end)
        fit_fail(err, FIT_ERR_DATA, "%s: damaged (no end of its head)", path);
    return end;
}

/* With several ranks the first reads, and the others receive the bytes from it: the file may be on its node alone. */
static enum fit_status read_once(const char *path, unsigned char **bytes, size_t *size, struct fit_error *err)
{
    if (!fit_ranks_shared())
        return read_file(path, bytes, size, err);
    *bytes = NULL;
    enum fit_status st = fit_ranks_rank() == 0 ? read_file(path, bytes, size, err) : FIT_OK;
    st = fit_ranks_agree_status(st, err);
    if (st != FIT_OK)
        return st;
    fit_ranks_copy(0, size, sizeof *size);
    if (fit_ranks_rank() > 0 && !(*bytes = malloc(*size + 1)))
        st = fit_no_memory(err, path);
    st = fit_ranks_agree_status(st, err);
    if (st == FIT_OK)
        fit_ranks_copy(0, *bytes, *size);
    return st;
}

enum fit_status fit_checkpoint_read(const char *path, const char *identity,
                                    struct fit_checkpoint *c, struct fit_error *err)
{
    unsigned char *bytes;
    size_t size = 0;
    char *end = NULL, *lines, run[FIT_RUN_ID] = "";
    *c = (struct fit_checkpoint){0};
    enum fit_status st = read_once(path, &bytes, &size, err);
    if (st != FIT_OK)
        goto done;
    size -= SHA256_BYTES;
    if (!(end = end_of_head(path, bytes, size, err))) {
        st = FIT_ERR_DATA;
        goto done;
    }
    end[1] = 0;
    lines = (char *)bytes + strlen(MAGIC) + strlen(VERSION);
    if (strncmp(lines, RUN, strlen(RUN)) == 0) {
        snprintf(run, sizeof run, "%.*s", (int)(line_of(lines) - strlen(RUN)), lines + strlen(RUN));
        lines += line_of(lines) + 1;
    }
    st = compare(path, lines, identity, err);
    if (!get_body(&bytes, (unsigned char *)end + 2, size - (size_t)(end + 2 - (char *)bytes), c))
        st = fit_fail(err, FIT_ERR_DATA, "%s: damaged (its sizes do not agree)", path);
    else if (c->storage_.failed)
        st = fit_no_memory(err, path);
    memcpy(c->run, run, sizeof run);
done:
    if (st != FIT_OK) {
        const double finished = c->finished;
        fit_checkpoint_free(c);
        c->finished = finished;
    }
    free(bytes);
    return st;
}

void fit_checkpoint_free(struct fit_checkpoint *c)
{
    fit_arena_free(&c->storage_);
    free(c->state);
    *c = (struct fit_checkpoint){0};
}
