/* tree.c -- statements in blocks; determines which definitions are printed.
 *
 * One sweep from the last statement to the first. Every identifier has a set of the depths of blocks in which it is
 * used below; a definition searches its own depth there; the beginning of a block passes the remaining uses to the
 * block around it.
 */
#include "emit/tree.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/diag.h"

struct statement {
    const char *text;  /* with its last newline */
    const char *names; /* of a definition; else NULL */
};

struct hg_tree {
    struct hg_arena *a;
    struct statement *statement;
    size_t n, room;
    const char *part; /* of a line not yet complete, or NULL */
};

struct hg_tree *hg_tree_new(struct hg_arena *a)
{
    struct hg_tree *t = hg_alloc(a, sizeof *t);
    t->a = a;
    return t;
}

static void add(struct hg_tree *t, const char *text, const char *names)
{
    if (t->n == t->room)
        t->statement = hg_grow(t->a, t->statement, t->n, 2 * t->n + 64, sizeof *t->statement, &t->room);
    t->statement[t->n++] = (struct statement){text, names};
}

static void add_lines(struct hg_tree *t, const char *s)
{
    if (t->part)
        s = hg_format(t->a, "%s%s", t->part, s);
    for (const char *end; (end = strchr(s, '\n')) != NULL; s = end + 1)
        add(t, hg_format(t->a, "%.*s\n", (int)(end - s), s), NULL);
    t->part = *s ? s : NULL;
}

void hg_put(struct hg_tree *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add_lines(t, hg_format_list(t->a, format, ap));
    va_end(ap);
}

void hg_define(struct hg_tree *t, const char *names, const char *format, ...)
{
    va_list ap;
    if (t->part)
        hg_bug("tree: a definition inside of a line");
    va_start(ap, format);
    add(t, hg_format_list(t->a, format, ap), hg_strdup(t->a, names));
    va_end(ap);
}

void hg_open_function(struct hg_tree *t, const char *result, const char *name, const char *parameters)
{
    enum { WIDTH = 110 };
    hg_put(t, "%s %s(", result, name);
    const int indent = (int)(strlen(result) + strlen(name)) + 2;
    int column = indent;
    for (const char *p = parameters; *p;) {
        int n = (int)strcspn(p, ",");
        if (p > parameters && column + n > WIDTH) {
            hg_put(t, "\n%*s", indent, "");
            column = indent;
        } else if (p > parameters) {
            hg_put(t, " ");
        }
        hg_put(t, "%.*s%s", n, p, p[n] ? "," : ")\n{\n");
        column += n + 2;
        p += n + (p[n] ? 2 : 0);
    }
}

void hg_put_tree(struct hg_tree *t, const struct hg_tree *part)
{
    for (size_t k = 0; k < part->n; k++)
        add(t, part->statement[k].text, part->statement[k].names);
    if (part->part)
        hg_bug("tree: a line without its end");
}

/* --- what is used --------------------------------------------------------------------------------------- */

enum { BUCKETS = 1024, DEEPEST = 30 };

struct word {
    const char *text;
    size_t size;
    uint32_t used; /* bit d: below, in an open block of depth d */
    struct word *next, *same; /* of the bucket; of all */
};

struct words {
    struct hg_arena *a;
    struct word *bucket[BUCKETS], *all;
};

static int letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct word *find(struct words *w, const char *s, size_t size)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t k = 0; k < size; k++)
        h = (h ^ (unsigned char)s[k]) * 16777619u;
    struct word **at = &w->bucket[h % BUCKETS];
    for (struct word *x = *at; x; x = x->next)
        if (x->size == size && memcmp(x->text, s, size) == 0)
            return x;
    struct word *x = hg_alloc(w->a, sizeof *x);
    *x = (struct word){s, size, 0, *at, w->all};
    return *at = w->all = x;
}

/* The next identifier at or after s and its size; NULL: none. Words of comments and members of structures are
 * skipped. */
static const char *identifier(const char *s, size_t *size)
{
    for (; *s; s++) {
        if ((s[0] == '.' || (s[0] == '-' && s[1] == '>')) && letter(s[1 + (s[0] == '-')]))
            for (s += 1 + (s[0] == '-'); letter(s[1]); s++)
                ;
        else
if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s, "*/");
            if (!end)
                return NULL;
            s = end + 1;
        } else if (letter(*s)) {
            *size = 0;
            while (letter(s[*size]))
                (*size)++;
            return s;
        }
    }
    return NULL;
}

static void use(struct words *w, const char *text, int depth)
{
    size_t n = 0;
    for (const char *s = identifier(text, &n); s; s = identifier(s + n, &n))
        find(w, s, n)->used |= 1u << depth;
}

/* Blocks that a statement opens minus those that it closes. */
static int braces(const char *s)
{
    int n = 0;
    for (; *s; s++) {
        if (s[0] == '/' && s[1] == '*' && strstr(s, "*/"))
            s = strstr(s, "*/") + 1;
        n += (*s == '{') - (*s == '}');
    }
    return n;
}

/* The block of this depth begins here: its uses count for the one around it. */
static void leave(struct words *w, int depth)
{
    for (struct word *x = w->all; x; x = x->same)
        if (x->used >> depth & 1)
            x->used = (x->used & ~(1u << depth)) | 1u << (depth - 1);
}

/* 1 when one of the names is used in this block; from here upwards they are not. */
static int forget(struct words *w, const char *names, int depth)
{
    int any = 0;
    size_t n = 0;
    for (const char *s = identifier(names, &n); s; s = identifier(s + n, &n)) {
        struct word *x = find(w, s, n);
        any |= (x->used >> depth & 1) != 0;
        x->used &= ~(1u << depth);
    }
    return any;
}

int hg_tree_empty(const struct hg_tree *t)
{
    return t->n == 0;
}

void hg_tree_print(const struct hg_tree *t, FILE *out)
{
    struct words w = {.a = t->a};
    HG_SCRATCH unsigned char *keep = hg_zeros(t->n + 1, 1);
    int depth = 0;
    for (size_t k = t->n; k-- > 0;) {
        const struct statement *s = &t->statement[k];
        keep[k] = !s->names || forget(&w, s->names, depth);
        if (!keep[k])
            continue;
        int change = braces(s->text);
        for (; change > 0; change--)
            leave(&w, depth--);
        depth -= change;
        if (depth < 0 || depth >= DEEPEST)
            hg_bug("tree: braces do not match");
        use(&w, s->text, depth);
        if (s->names) /* it mentions them itself */
            forget(&w, s->names, depth);
    }
    int blank = 0; /* the line before is empty */
    for (size_t k = 0; k < t->n; k++)
        if (keep[k] && !(blank && t->statement[k].text[0] == '\n')) {
            fputs(t->statement[k].text, out);
            blank = t->statement[k].text[0] == '\n';
        }
}
