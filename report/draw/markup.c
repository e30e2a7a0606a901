/* markup.c -- markup with escaped arguments; see markup.h. */
#include "report/draw/markup.h"

#include "common/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void escaped(FILE *out, const char *text, size_t most)
{
    char one[TEXT_ONE];
    for (size_t n; most && *text; text += n, most -= n) {
        n = text_xml(text, one);
        if (n > most)
            return;
        fputs(one, out);
    }
}

/* One conversion, from % to its letter, of the next argument. */
static void convert(FILE *out, const char *spec, size_t length, va_list *ap)
{
    char one[16] = "";
    const char what = spec[length - 1], *point = memchr(spec, '.', length);
    const int is_long = memchr(spec, 'l', length) != NULL, is_size = memchr(spec, 'z', length) != NULL;
    if (length >= sizeof one)
        abort(); /* such a format is ours, and wrong */
    memcpy(one, spec, length);
    if (what == '%')
        fputc('%', out);
    else if (what == 's')
        escaped(out, va_arg(*ap, const char *), point ? strtoul(point + 1, NULL, 10) : (size_t)-1);
    else if (strchr("fge", what))
        fprintf(out, one, va_arg(*ap, double));
    else if (is_size)
        fprintf(out, one, va_arg(*ap, size_t));
    else if (is_long)
        fprintf(out, one, va_arg(*ap, long));
    else
        fprintf(out, one, va_arg(*ap, int));
}

void rp_put(struct rp_markup *out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        fwrite(at, 1, plain, out->file);
        at += plain;
        if (!*at)
            break;
        const size_t length = strcspn(at + 1, "%sdufgex") + 2;
        convert(out->file, at, length, &ap);
        at += length;
    }
    va_end(ap);
}

void rp_put_raw(struct rp_markup *out, const char *own)
{
    fputs(own, out->file);
}
