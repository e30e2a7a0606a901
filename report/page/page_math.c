/* page_math.c -- the equations of a model: MathML that the compiler has written (generator/document/html.c) and that
 * comes from a file, which may be untrusted. Accepted are elements and attributes of a list, closed in order, and
 * between them printable characters; with anything else the page shows the formula as plain text instead. */
#include "report/page/page.h"

#include "common/text.h"

#include <string.h>

enum { DEEP = 200, SHOWN = 7, FIRST = 2 }; /* of more equations than SHOWN the first stand open */

static const char *const element[] = {"math",  "mrow",  "mi",    "mn",     "mo",     "msub", "msup", "msubsup", "mfrac",
                                      "msqrt", "mover", "mtext", "mspace", "mtable", "mtr",  "mtd",  "div",     NULL};
static const char *const attribute[] = {"form=\"infix\"",         "form=\"prefix\"",
                                        "form=\"postfix\"",       "stretchy=\"true\"",
                                        "stretchy=\"false\"",     "displaystyle=\"true\"",
                                        "lspace=\"0\"",           "rspace=\"0\"",
                                        "mathvariant=\"normal\"", "separator=\"true\"",
                                        "accent=\"true\"",        "width=\"0.2em\"",
                                        "class=\"eq\"",           NULL};

/* The first of a list that the text begins with and after which one of `end` stands; its length, 0: none. */
static size_t one_of(const char *text, const char *const *list, const char *end)
{
    for (; *list; list++) {
        const size_t n = strlen(*list);
        if (strncmp(text, *list, n) == 0 && text[n] && strchr(end, text[n]))
            return n;
    }
    return 0;
}

/* Opens or closes an element at text, "<...>"; returns its length, 0: it must not be there. */
static size_t tag(const char *text, const char *open[DEEP], size_t *depth)
{
    const int closes = text[1] == '/';
    const char *name = text + 1 + closes, *at;
    if (strncmp(text, "<wbr>", 5) == 0)
        return 5;
    size_t n = one_of(name, element, closes ? ">" : " >");
    if (!n || (closes && (!*depth || strncmp(open[*depth - 1], name, n) != 0)) || (!closes && *depth == DEEP))
        return 0;
    if (closes)
        --*depth;
    else
        open[(*depth)++] = name;
    for (at = name + n; *at == ' '; at += n)
        if (!(n = one_of(++at, attribute, " >")))
            return 0;
    return *at == '>' ? (size_t)(at + 1 - text) : 0;
}

/* Bytes of text before the next "<", ">" or "&"; 0: there is none, or not all of it is drawn. */
static size_t plain(const char *text)
{
    const size_t n = strcspn(text, "<&>");
    for (size_t k = 0, length; k < n; k += length) {
        length = text_utf8_length(text + k);
        if (!length || (text[k] != '\n' && text_is_control(text + k, length)))
            return 0;
    }
    return n;
}

static int accepted(const char *text)
{
    static const char *const entity[] = {"&amp", "&lt", "&gt", "&quot", "&#160", NULL};
    const char *open[DEEP];
    size_t depth = 0;
    while (*text) {
        size_t n = plain(text);
        if (!n && *text == '<')
            n = tag(text, open, &depth);
        else if (!n && *text == '&')
            n = one_of(text, entity, ";");
        if (!n)
            return 0;
        text += n;
    }
    return depth == 0;
}

/* Bytes before the word, at most n. */
static size_t bytes_before(const char *text, size_t n, const char *word)
{
    const char *at = strstr(text, word);
    return at && (size_t)(at - text) < n ? (size_t)(at - text) : n;
}

int rp_put_mathml(struct rp_markup *out, const char *text)
{
    if (!*text || !accepted(text))
        return 0;
    size_t lines = 0, written = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    fputs("<div class=\"equations\">\n", out->file);
    for (const char *at = text; *at;) {
        const size_t line = strcspn(at, "\n"), n = bytes_before(at, line, "<wbr>");
        fwrite(at, 1, n, out->file);
        at += n;
        if (n < line) {
            fputs("<wbr/>", out->file);
            at += 5;
        } else if (*at) {
            fputc(*at++, out->file);
            if (++written == FIRST && lines > SHOWN)
                rp_put(out, "<details><summary>parts of it</summary>\n");
        }
    }
    fputs(lines > SHOWN ? "</details></div>\n" : "</div>\n", out->file);
    return 1;
}
