/* tree.c -- statements in blocks, their lines, and which definitions are printed.
 *
 * What is used is found in one sweep from the last statement to the first.  Every name that is offered has a set of
 * the depths of blocks in which it is used below; a definition looks for its own depth there; the beginning of a block
 * hands what is left to the block around it.
 */
#include "emit/tree.h"

#include <stdarg.h>
#include <string.h>

#include "base/diag.h"

struct hg_tree *hg_tree_new(struct hg_arena *a)
{
    struct hg_tree *t = hg_alloc(a, sizeof *t);
    t->a = a;
    t->spellings = hg_alloc(a, sizeof *t->spellings);
    t->spellings->a = a;
    return t;
}

struct hg_tree *hg_tree_part(const struct hg_tree *whole, int depth)
{
    struct hg_tree *t = hg_alloc(whole->a, sizeof *t);
    *t = (struct hg_tree){.a = whole->a, .spellings = whole->spellings, .depth = depth};
    return t;
}

int hg_tree_empty(const struct hg_tree *t)
{
    return t->n == 0;
}

/* --- statements ------------------------------------------------------------------------------------------- */

void hg_tree_append(struct hg_tree *t, const struct hg_statement *s)
{
    t->statement = hg_grow(t->a, t->statement, t->n, t->n + 1, sizeof *t->statement, &t->room);
    t->statement[t->n++] = *s;
}

static struct hg_statement *add(struct hg_tree *t, enum hg_statement_kind kind, const char *text)
{
    struct hg_statement s = {.kind = kind, .depth = t->depth, .text = text};
    if (t->npart)
        hg_bug("tree: a statement inside of a line");
    s.token = hg_lex(t->spellings, text, &s.ntoken);
    t->depth += (kind == HG_OPENING) - (kind == HG_CLOSING);
    hg_tree_append(t, &s);
    return &t->statement[t->n - 1];
}

enum { WIDTH = 100 };

/* Where to break a long statement: after the last comma or before the last sum that fits, else after the last
 * sign of a product; not in a comment. */
static size_t break_at(const char *s, size_t room)
{
    size_t end = strcspn(s, "\n"), at = 0, product = 0;
    const char *comment = strstr(s, "/*");
    if (comment && (size_t)(comment - s) < end)
        end = (size_t)(comment - s);
    while (end > 0 && s[end - 1] == ' ')
        end--;
    for (size_t k = 2; k + 2 < end && (k <= room || (at == 0 && (product == 0 || end <= room))); k++) {
        if (s[k] == ' ' && s[k - 1] != '=' && (s[k - 1] == ',' || strchr("+-?:", s[k + 1])))
            at = k;
        if (s[k - 1] == '*' && s[k - 2] != ' ' && s[k] != ' ')
            product = k;
    }
    return at || end <= room ? at : product;
}

/* The lines of a statement with its indentation; one that is too long is broken. */
static const char *laid_out(const struct hg_tree *t, int how, const char *s)
{
    const size_t begin = 4 * (size_t)t->depth;
    const int several = (how & HG_WHOLE) || strchr(s, '\n') != NULL;
    size_t indent = begin, n = 0, room = 0;
    char *lines = NULL;
    do {
        size_t size = strcspn(s, "\n"), cut = 0;
        if (!several && indent < WIDTH && indent + size > WIDTH + 12)
            cut = break_at(s, WIDTH - indent);
        size = cut ? cut : size;
        lines = hg_grow(t->a, lines, n, n + indent + size + 2, 1, &room);
        n += (size_t)sprintf(lines + n, "%*s%.*s\n", (int)indent, "", (int)size, s);
        s += size + (s[size] != 0 && strchr(" \n", s[size]));
        indent = several ? begin : begin + 8;
    } while (*s);
    return lines;
}

void hg_statement(struct hg_tree *t, int kind, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const char *s = hg_format_list(t->a, format, ap);
    va_end(ap);
    add(t, (enum hg_statement_kind)(kind & ~HG_WHOLE), laid_out(t, kind, s));
}

void hg_close_with(struct hg_tree *t, const char *text)
{
    if (t->depth == 0)
        hg_bug("tree: no block is open");
    add(t, HG_CLOSING, hg_format(t->a, "%*s%s\n", 4 * (t->depth - 1), "", text));
}

void hg_close(struct hg_tree *t)
{
    hg_close_with(t, "}");
}

void hg_close_function(struct hg_tree *t)
{
    hg_close(t);
    hg_put(t, "\n");
}

void hg_declaration(struct hg_tree *t, int how, const char *type, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const char *s = hg_format_list(t->a, format, ap), *blank = strchr("* ", type[strlen(type) - 1]) ? "" : " ";
    va_end(ap);
    struct hg_statement *x = add(t, HG_DECLARATION, laid_out(t, how, hg_format(t->a, "%s%s%s", type, blank, s)));
    for (x->name = x->token; x->name->at < 4 * (uint32_t)x->depth + strlen(type); x->name++)
        ;
    x->nname = 1;
    x->offered = (how & HG_OFFERED) != 0;
}

void hg_define(struct hg_tree *t, const char *names, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    struct hg_statement *x = add(t, HG_VERBATIM, laid_out(t, HG_WHOLE, hg_format_list(t->a, format, ap)));
    va_end(ap);
    x->name = hg_lex(t->spellings, hg_strdup(t->a, names), &x->nname);
    x->offered = 1;
}

void hg_put(struct hg_tree *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const char *s = hg_format_list(t->a, format, ap);
    va_end(ap);
    for (const char *end; (end = strchr(s, '\n')) != NULL; s = end + 1) {
        const char *line = hg_format(t->a, "%.*s%.*s", (int)t->npart, t->part ? t->part : "", (int)(end + 1 - s), s);
        t->npart = 0;
        add(t, HG_VERBATIM, line);
    }
    t->part = hg_grow(t->a, t->part, t->npart, t->npart + strlen(s), 1, &t->part_room);
    memcpy(t->part + t->npart, s, strlen(s));
    t->npart += strlen(s);
}

void hg_open_function(struct hg_tree *t, const char *result, const char *name, const char *parameters)
{
    enum { MOST = 110 };
    hg_put(t, "%s %s(", result, name);
    const int indent = (int)(strlen(result) + strlen(name)) + 2;
    int column = indent;
    for (const char *p = parameters; *p;) {
        int n = (int)strcspn(p, ",");
        if (p > parameters && column + n > MOST) {
            hg_put(t, "\n%*s", indent, "");
            column = indent;
        } else if (p > parameters) {
            hg_put(t, " ");
        }
        hg_put(t, "%.*s%s", n, p, p[n] ? "," : ")\n");
        column += n + 2;
        p += n + (p[n] ? 2 : 0);
    }
    hg_open(t, "{");
}

void hg_put_tree(struct hg_tree *t, const struct hg_tree *part)
{
    for (size_t k = 0; k < part->n; k++)
        hg_tree_append(t, &part->statement[k]);
    if (part->npart || part->depth != t->depth || part->spellings != t->spellings)
        hg_bug("tree: a part that does not fit");
}

/* --- what is used ----------------------------------------------------------------------------------------- */

enum { DEEPEST = 30 };

/* Names that are offered, each once; bit d of `used`: below, in an open block of depth d. */
struct offers {
    struct hg_spelling **name;
    size_t n, room;
};

static void collect(const struct hg_tree *t, struct offers *x)
{
    for (size_t k = 0; k < t->n; k++)
        for (uint32_t m = 0; t->statement[k].offered && m < t->statement[k].nname; m++) {
            x->name = hg_grow(t->a, x->name, x->n, x->n + 1, sizeof *x->name, &x->room);
            x->name[x->n++] = t->statement[k].name[m].spelling;
        }
    for (size_t k = 0; k < x->n; k++)
        x->name[k]->used = 0;
}

static void use(const struct hg_statement *s)
{
    for (uint32_t k = 0; k < s->ntoken; k++) {
        struct hg_spelling *x = s->token[k].spelling;
        if (s->token[k].kind != HG_TOKEN_MEMBER)
            (x->base ? x->base : x)->used |= 1u << s->depth;
    }
}

/* The block of this depth begins here: what it uses is used in the one around it. */
static void leave(const struct offers *x, int depth)
{
    for (size_t k = 0; k < x->n; k++)
        if (x->name[k]->used >> depth & 1)
            x->name[k]->used = (x->name[k]->used & ~(1u << depth)) | 1u << (depth - 1);
}

/* 1 when one of the names is used in this block; from here upwards they are not. */
static int forget(const struct hg_statement *s)
{
    int any = 0;
    for (uint32_t k = 0; k < s->nname; k++) {
        any |= (s->name[k].spelling->used >> s->depth & 1) != 0;
        s->name[k].spelling->used &= ~(1u << s->depth);
    }
    return any;
}

void hg_tree_trim(struct hg_tree *t)
{
    struct offers x = {0};
    size_t n = 0;
    int depth = 0;
    if (t->depth || t->npart)
        hg_bug("tree: a block or a line without its end");
    collect(t, &x);
    for (size_t k = t->n; k-- > 0;) {
        struct hg_statement *s = &t->statement[k];
        if (s->depth >= DEEPEST)
            hg_bug("tree: blocks too deep");
        for (; depth > s->depth; depth--)
            leave(&x, depth);
        depth = s->depth;
        if (s->offered && !forget(s)) {
            s->text = NULL;
            continue;
        }
        use(s);
        if (s->offered) /* it mentions them itself */
            forget(s);
    }
    for (size_t k = 0; k < t->n; k++)
        if (t->statement[k].text)
            t->statement[n++] = t->statement[k];
    t->n = n;
}

void hg_tree_print(const struct hg_tree *t, FILE *out)
{
    int blank = 0; /* the line before is empty */
    for (size_t k = 0; k < t->n; k++) {
        const int empty = t->statement[k].text[0] == '\n';
        if (!(blank && empty))
            fputs(t->statement[k].text, out);
        blank = empty;
    }
}
