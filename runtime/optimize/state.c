/* state.c -- see state.h. */
#include "optimize/state.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "common/regular.h"
#include "common/sha256.h"

enum { HEAD = 1024, WORD = 8 };

/* ---- lines and words -------------------------------------------------------------------------- */

static void bounds_hash(const struct fit_optimize_problem *p, char hex[SHA256_HEX])
{
    struct sha256 s;
    unsigned char digest[SHA256_BYTES];
    sha256_init(&s);
    for (int side = 0; side < 2; side++) {
        const double *bound = side ? p->upper : p->lower;
        sha256_update(&s, bound ? "y" : "n", 1);
        if (bound)
            sha256_update(&s, bound, p->n * sizeof *bound);
    }
    sha256_final(&s, digest);
    sha256_hex(digest, hex);
}

static size_t head_text(const struct fit_optimize *o, char text[HEAD])
{
    char bounds[SHA256_HEX];
    const char *identity = o->problem->identity ? o->problem->identity : "";
    bounds_hash(o->problem, bounds);
    snprintf(text, HEAD,
             "homodyne-gen optimizer state 1\n"
             "method %s memory %zu maxls %zu learning_rate %.17g accept_last %d\n"
             "problem %.400s\n"
             "variables %zu bounds %s\n"
             "numbers %zu\n",
             o->method->name, o->opt.memory, o->opt.maxls, o->opt.learning_rate, o->opt.accept_last != 0, identity,
             o->n, bounds, o->nblock);
    return strlen(text);
}

static void put_words(unsigned char *at, size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t v;
        memcpy(&v, &x[k], sizeof v);
        for (int b = 0; b < WORD; b++)
            *at++ = (unsigned char)(v >> (8 * b));
    }
}

static void get_words(const unsigned char *at, size_t n, double *x)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t v = 0;
        for (int b = 0; b < WORD; b++)
            v |= (uint64_t)*at++ << (8 * b);
        memcpy(&x[k], &v, sizeof v);
    }
}

static void digest_of(const unsigned char *bytes, size_t n, unsigned char digest[SHA256_BYTES])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, bytes, n);
    sha256_final(&s, digest);
}

/* ---- writing ---------------------------------------------------------------------------------- */

enum fit_status fit_optimize_state_write(const struct fit_optimize *o, struct fit_error *err)
{
    char head[HEAD];
    const size_t nhead = head_text(o, head), nwords = o->nblock * WORD, size = nhead + nwords + SHA256_BYTES;
    FIT_OWNED unsigned char *bytes = malloc(size);
    if (!bytes)
        return fit_no_memory(err, o->opt.state_file);
    memcpy(bytes, head, nhead);
    put_words(bytes + nhead, o->nblock, o->block);
    digest_of(bytes, nhead + nwords, bytes + nhead + nwords);
    return fit_output_write(o->opt.state_file, (const char *)bytes, size, err);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Says which line of the file differs from this run. */
static enum fit_status another(const char *path, const char *seen, const char *mine, struct fit_error *err)
{
    while (*seen && *mine) {
        const int a = (int)strcspn(seen, "\n"), b = (int)strcspn(mine, "\n");
        if (a != b || strncmp(seen, mine, (size_t)a) != 0)
            return fit_fail(err, FIT_ERR_CONFIG, "%s: the state of another run: it has \"%.*s\", this run \"%.*s\"",
                            path, a < 200 ? a : 200, seen, b < 200 ? b : 200, mine);
        seen += a + (seen[a] == '\n');
        mine += b + (mine[b] == '\n');
    }
    return fit_fail(err, FIT_ERR_DATA, "%s: damaged (its lines end too early)", path);
}

static enum fit_status unpack(struct fit_optimize *o, const unsigned char *bytes, size_t got, struct fit_error *err)
{
    static const char MAGIC[] = "homodyne-gen optimizer state ";
    const char *path = o->opt.state_file;
    char head[HEAD], seen[HEAD];
    unsigned char digest[SHA256_BYTES];
    const size_t nhead = head_text(o, head), nwords = o->nblock * WORD;
    if (got < sizeof MAGIC + SHA256_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: not the state of an optimizer", path);
    digest_of(bytes, got - SHA256_BYTES, digest);
    if (memcmp(digest, bytes + got - SHA256_BYTES, SHA256_BYTES) != 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: damaged (its SHA-256 does not agree)", path);
    if (got < nhead || memcmp(bytes, head, nhead) != 0) {
        const size_t n = got - SHA256_BYTES < HEAD - 1 ? got - SHA256_BYTES : HEAD - 1;
        memcpy(seen, bytes, n);
        seen[n] = 0;
        return another(path, seen, head, err);
    }
    if (got != nhead + nwords + SHA256_BYTES)
        return fit_fail(err, FIT_ERR_DATA, "%s: damaged (its size does not agree)", path);
    get_words(bytes + nhead, o->nblock, o->block);
    return FIT_OK;
}

enum fit_status fit_optimize_state_read(struct fit_optimize *o, int *found, struct fit_error *err)
{
    const char *path = o->opt.state_file;
    struct stat about;
    *found = 0;
    FILE *f = regular_open(path);
    if (!f && errno == ENOENT)
        return FIT_OK;
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: %s", path, regular_what(path) ? regular_what(path) : strerror(errno));
    /* Reads all of it: the file of another run may be longer, and its hash is checked before its lines. */
    const size_t size = fstat(fileno(f), &about) == 0 && about.st_size > 0 ? (size_t)about.st_size : 0;
    FIT_OWNED unsigned char *bytes = malloc(size + 1);
    const size_t got = bytes ? fread(bytes, 1, size, f) : 0;
    const int bad = bytes && ferror(f);
    fclose(f);
    if (!bytes)
        return fit_no_memory(err, path);
    if (bad)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read", path);
    const enum fit_status st = unpack(o, bytes, got, err);
    *found = st == FIT_OK;
    return st;
}
