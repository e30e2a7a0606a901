/* stream.c -- streams that escape control characters; see stream.h. fopencookie(3) of the GNU and musl C libraries. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "common/stream.h"

#include "common/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct cookie {
    FILE *stream;
    int fd, own;  /* own: the input is a control sequence of the program itself */
    char rest[8]; /* the first bytes of a character whose other bytes come with the next call */
    size_t nrest;
};

static struct cookie made[2] = {{.fd = 1}, {.fd = 2}};

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t m = write(fd, bytes, n);
        if (m < 0 && errno != EINTR)
            return 0;
        if (m > 0) {
            bytes += m;
            n -= (size_t)m;
        }
    }
    return 1;
}

/* How many bytes at the end of text are the beginning of an incomplete character. */
static size_t unfinished(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const unsigned char c = (unsigned char)text[n - back];
        if (c >= 0xC0)
            return back < (c >= 0xF0 ? 4u : c >= 0xE0 ? 3u : 2u) ? back : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

static int write_escaped(struct cookie *c, const char *bytes, size_t n)
{
    enum { PIECE = 1000 };
    char text[PIECE + 1], shown[4 * PIECE + 1];
    while (n) {
        const size_t take = n < PIECE - sizeof c->rest ? n : PIECE - sizeof c->rest;
        memcpy(text, c->rest, c->nrest);
        memcpy(text + c->nrest, bytes, take);
        size_t length = c->nrest + take;
        c->nrest = unfinished(text, length);
        length -= c->nrest;
        memcpy(c->rest, text + length, c->nrest);
        text[length] = '\0';
        if (!write_all(c->fd, shown, text_printable(text, length, 1, shown, sizeof shown)))
            return 0;
        bytes += take;
        n -= take;
    }
    return 1;
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t n)
{
    struct cookie *c = cookie;
    const int done = c->own ? write_all(c->fd, bytes, n) : write_escaped(c, bytes, n);
    return done ? (ssize_t)n : 0; /* 0: an error, to fopencookie */
}

FILE *text_stream(int fd)
{
    struct cookie *c = &made[fd == 2];
    if (!c->stream) {
        c->stream = fopencookie(c, "w", (cookie_io_functions_t){.write = write_cookie});
        if (c->stream && (fd == 2 || isatty(fd)))
            setvbuf(c->stream, NULL, fd == 2 ? _IONBF : _IOLBF, 0);
    }
    return c->stream ? c->stream : fd == 2 ? stderr : stdout;
}

void text_stream_control(FILE *f, const char *sequence)
{
    struct cookie *c = f == made[0].stream ? &made[0] : f == made[1].stream ? &made[1] : NULL;
    fflush(f);
    if (c)
        c->own = 1;
    fputs(sequence, f);
    fflush(f);
    if (c)
        c->own = 0;
}

int text_stream_finish(const char *program, int code)
{
    FILE *out = text_stream(1);
    if (fflush(out) == 0 && !ferror(out))
        return code;
    fprintf(text_stream(2), "%s: error: standard output cannot be written\n", program);
    return code ? code : 4;
}
