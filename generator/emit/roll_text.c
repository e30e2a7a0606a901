/* roll_text.c -- emitted C as statements and words. */
#include "emit/roll_text.h"

#include <stdlib.h>
#include <string.h>

static int letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t mixed(uint64_t h, const char *s, size_t n)
{
    for (size_t k = 0; k < n; k++)
        h = (h ^ (unsigned char)s[k]) * 1099511628211u; /* FNV-1a */
    return h;
}

/* --- names: open addressing, by text --------------------------------------------------------------------- */

struct name {
    const char *s;
    uint32_t size, value; /* value 0: none */
};

struct names {
    struct name *at;
    size_t room; /* a power of two, larger than the number of names */
};

static struct names names_for(struct hg_arena *a, size_t n)
{
    struct names t = {.room = 64};
    while (t.room < 2 * n)
        t.room *= 2;
    t.at = hg_alloc(a, t.room * sizeof *t.at);
    return t;
}

static struct name *name_at(struct names *t, const char *s, uint32_t size)
{
    size_t k = mixed(14695981039346656037u, s, size) & (t->room - 1);
    while (t->at[k].s && (t->at[k].size != size || memcmp(t->at[k].s, s, size) != 0))
        k = (k + 1) & (t->room - 1);
    if (!t->at[k].s)
        t->at[k] = (struct name){s, size, 0};
    return &t->at[k];
}

/* --- lines ----------------------------------------------------------------------------------------------- */

struct line {
    const char *s, *begin, *end; /* with its newline; without blanks and a comment at its end */
    size_t size;
};

static struct line line_at(const char *s)
{
    struct line l = {.s = s, .size = strcspn(s, "\n")};
    l.begin = s + strspn(s, " ");
    l.end = s + l.size;
    l.size += s[l.size] == '\n';
    for (const char *c = l.begin; c + 1 < l.end; c++)
        if (c[0] == '/' && c[1] == '*' && c > l.begin)
            l.end = c;
    while (l.end > l.begin && l.end[-1] == ' ')
        l.end--;
    return l;
}

static int is_word(const struct line *l, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(l->end - l->begin) > n && strncmp(l->begin, word, n) == 0 && !letter(l->begin[n]);
}

/* Lines that begin with these words are neither declarations of numbers nor assignments. */
static int begins_statement(const struct line *l)
{
    static const char *const other[] = {"for",    "if",       "else", "return", "struct", "static", "enum", "while",
                                        "switch", "continue", "goto", "extern", "do",     "union",  "case"};
    if (l->begin == l->s || !letter(*l->begin) || digit(*l->begin))
        return 0;
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (is_word(l, other[k]))
            return 0;
    return 1;
}

static int braces(const char *s, const char *end)
{
    int n = 0;
    for (; s < end; s++)
        n += (*s == '{') - (*s == '}');
    return n;
}

/* Ends a statement without a block of its own, as far as one line shows. */
static int is_ended(const struct line *l)
{
    return l->end > l->begin && strchr(";{}", l->end[-1]);
}

static struct roll_item *add_item(struct roll_text *t, const char *s)
{
    t->item = hg_grow(t->a, t->item, t->nitem, t->nitem + 1, sizeof *t->item, &t->item_room);
    struct roll_item *x = &t->item[t->nitem++];
    *x = (struct roll_item){.s = s, .first = t->ntoken};
    return x;
}

/* The statement at s, of one line or several; `open`: the previous line belongs to it (an `if` without braces). */
static void add_statement(struct roll_text *t, const char *s, int open)
{
    struct line l = line_at(s);
    struct roll_item *x = add_item(t, s);
    const size_t first = l.size;
    x->comment = l.begin < l.end && l.begin[0] == '/' && l.begin[1] == '*';
    x->simple = !open && begins_statement(&l);
    x->size = l.size;
    while (x->simple && !is_ended(&l) && l.s[l.size]) {
        l = line_at(l.s + l.size);
        x->size += l.size;
    }
    x->simple &= l.end > l.begin && l.end[-1] == ';' && !memchr(x->s, '"', x->size) && !memchr(x->s, '{', x->size);
    if (!x->simple)
        x->size = first;
}

/* --- words ----------------------------------------------------------------------------------------------- */

/* Behind blanks and comments. */
static const char *skip(const char *s, const char *end)
{
    for (int comment = 0; s < end; s++) {
        if (!comment && s + 1 < end && s[0] == '/' && s[1] == '*') {
            comment = 1;
            s++;
        } else if (comment && s[0] == '*' && s + 1 < end && s[1] == '/') {
            comment = 0;
            s++;
        } else if (!comment && *s != ' ' && *s != '\n') {
            break;
        }
    }
    return s;
}

static uint32_t size_of_number(const char *s, const char *end)
{
    uint32_t n = 0;
    while (s + n < end && (letter(s[n]) || s[n] == '.' || ((s[n] == '-' || s[n] == '+') && n && s[n - 1] == 'e')))
        n++;
    return n;
}

static uint32_t size_of_word(const char *s, const char *end)
{
    uint32_t n = 0;
    while (s + n < end && letter(s[n]))
        n++;
    return n;
}

/* A word: `w.NAME` as one; members of other structures and words before a bracket as they are. */
static struct roll_token word(const char *s, const char *end, const struct roll_token *before, struct names *fields)
{
    struct roll_token x = {.s = s, .size = size_of_word(s, end), .kind = ROLL_NAME};
    const char *next = s + x.size;
    const uint32_t dot = next < end && *next == '.' ? 1 : next + 1 < end && next[0] == '-' && next[1] == '>' ? 2 : 0;
    if (x.size == 1 && *s == 'w' && dot) {
        const uint32_t n = size_of_word(next + dot, end);
        const struct name *field = name_at(fields, next + dot, n);
        if (field->value)
            return (struct roll_token){s, 1 + dot + n, ROLL_FIELD, field->value - 1, 0};
    }
    const int member = before && before->kind == ROLL_MARK && (*before->s == '.' || *before->s == '>');
    if (member || (next < end && *next == '(') || (next + 1 < end && next[0] == ' ' && letter(next[1])))
        x.kind = ROLL_FIXED;
    return x;
}

static struct roll_token number(const char *s, const char *end, const struct roll_token *before)
{
    struct roll_token x = {.s = s, .size = size_of_number(s, end), .kind = ROLL_NUMBER};
    const int subscript = before && *before->s == '[' && x.size < 9 && s + x.size < end && s[x.size] == ']';
    if (subscript && size_of_word(s, end) == x.size && digit(s[x.size - 1])) {
        x.kind = ROLL_INTEGER;
        x.value = (uint32_t)strtoul(s, NULL, 10);
    } else if (!memchr(s, '.', x.size) && !memchr(s, 'e', x.size)) {
        x.kind = ROLL_FIXED;
    }
    return x;
}

static void read_tokens(struct roll_text *t, struct roll_item *x, struct names *fields)
{
    const char *s = skip(x->s, x->s + x->size), *end = x->s + x->size;
    x->first = t->ntoken;
    x->shape = 14695981039346656037u;
    for (; s < end; s = skip(s, end)) {
        const struct roll_token *before = t->ntoken > x->first ? &t->token[t->ntoken - 1] : NULL;
        const struct roll_token y = digit(*s)    ? number(s, end, before)
                                    : letter(*s) ? word(s, end, before, fields)
                                                 : (struct roll_token){s, 1, ROLL_MARK, 0, 0};
        const char kind = (char)y.kind;
        x->shape = mixed(x->shape, &kind, 1);
        if (y.kind == ROLL_MARK || y.kind == ROLL_FIXED)
            x->shape = mixed(x->shape, y.s, y.size);
        else if (y.kind == ROLL_FIELD)
            x->shape = mixed(x->shape, y.s + 1, 1);
        t->token = hg_grow(t->a, t->token, t->ntoken, t->ntoken + 1, sizeof *t->token, &t->token_room);
        t->token[t->ntoken++] = y;
        s += y.size;
    }
    x->ntoken = t->ntoken - x->first;
}

static int is_text(const struct roll_token *x, const char *word)
{
    return x->size == strlen(word) && memcmp(x->s, word, x->size) == 0;
}

static int is_number_type(const struct roll_token *x)
{
    static const char *const type[] = {"double", "fit_vd", "fit_vm", "int", "size_t"};
    for (size_t k = 0; k < sizeof type / sizeof *type; k++)
        if (is_text(x, type[k]))
            return 1;
    return 0;
}

/* [const] TYPE NAME = ...; or [const] TYPE NAME;   else an assignment or a call, or no simple statement. */
static void find_declaration(struct roll_text *t, struct roll_item *x)
{
    const struct roll_token *y = &t->token[x->first];
    const uint32_t k = x->ntoken > 0 && is_text(y, "const");
    if (x->ntoken < k + 3 || *y[k + 1].s == '*') {
        x->simple = 0;
    } else if (letter(*y[k + 1].s)) {
        x->simple = is_number_type(&y[k]) && y[k + 1].kind == ROLL_NAME && strchr("=;", *y[k + 2].s);
        x->declares = x->simple ? x->first + k + 2 : 0;
    }
}

/* --- declarations and their positions ------------------------------------------------------------------- */

/* The members of struct tables, all of them pointers: numbered from 1. */
static uint32_t read_fields(const char *text, struct names *fields)
{
    static const char head[] = "\nstruct tables {\n", member[] = "    double *";
    const char *s = strstr(text, head);
    uint32_t n = 0;
    if (!s)
        return 0;
    for (s += sizeof head - 1; *s && *s != '}'; s += strcspn(s, "\n"), s += *s == '\n') {
        const char *name = s + sizeof member - 1;
        if (strncmp(s, member, sizeof member - 1) != 0)
            return 0;
        name_at(fields, name, size_of_word(name, name + strcspn(name, ";")))->value = ++n;
    }
    return n;
}

/* Which statement declares the names of each statement; names end with their blocks. */
static void find_uses(struct roll_text *t, struct names *names)
{
    HG_SCRATCH uint32_t *stack = hg_zeros(t->nitem + 1, sizeof *stack);
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->nitem; k++) {
        struct roll_item *x = &t->item[k];
        for (uint32_t m = x->first; m < x->first + x->ntoken; m++) {
            struct roll_token *y = &t->token[m];
            if (y->kind != ROLL_NAME || m + 1 == x->declares)
                continue;
            y->def = name_at(names, y->s, y->size)->value;
            if (y->def)
                t->item[y->def - 1].last = k;
        }
        if (x->declares) {
            const struct roll_token *y = &t->token[x->declares - 1];
            name_at(names, y->s, y->size)->value = k + 1;
            stack[n++] = k;
        }
        const int depth = k + 1 < t->nitem ? t->item[k + 1].depth : 0;
        for (; n && t->item[stack[n - 1]].depth > depth; n--) {
            const struct roll_token *y = &t->token[t->item[stack[n - 1]].declares - 1];
            name_at(names, y->s, y->size)->value = 0;
        }
    }
}

struct roll_text *roll_read(struct hg_arena *a, const char *text)
{
    struct roll_text *t = hg_alloc(a, sizeof *t);
    struct names fields = names_for(a, strlen(text) / 8 + 1), names = names_for(a, strlen(text) / 4 + 1);
    int depth = 0, open = 0;
    t->a = a;
    t->nfield = read_fields(text, &fields);
    for (const char *s = text; *s; s += t->item[t->nitem - 1].size) {
        add_statement(t, s, open);
        struct roll_item *x = &t->item[t->nitem - 1];
        const struct line l = line_at(s);
        x->depth = depth;
        if (x->comment)
            continue;
        depth += braces(s, x->simple ? s : l.end);
        open = !x->simple && l.begin < l.end && l.begin > l.s && !is_ended(&l);
        if (l.begin > l.s && x->size)
            read_tokens(t, x, &fields);
        if (x->simple)
            find_declaration(t, x);
    }
    find_uses(t, &names);
    return t;
}
