/* roll.c -- loops in the place of statements that repeat.
 *
 * At each statement every period is tried: how far the shapes of statements repeat, then in how many turns the words
 * fit together.  A name must be declared at the same place of its own turn, or be the same in all turns, or be one of a
 * name that an earlier loop keeps for all of its turns.  Subscripts, tables and numbers may differ.  What saves most is
 * taken.
 */
#include "emit/roll.h"

#include <string.h>

enum { FEWEST_TURNS = 4, LONGEST_TURN = 1500, OF_STATEMENT = 16 };

/* Words and operators that a loop saves at least, and OF_STATEMENT for each statement: first the large ones are looked
 * for, then what is left between them. */
static const uint32_t fewest_saved[] = {20000, 2000};
enum { LEVELS = sizeof fewest_saved / sizeof *fewest_saved };

/* A statement as it is looked at here. */
struct item {
    uint64_t shape;      /* of its words without what may differ */
    int simple;          /* a turn may have it */
    uint32_t last;       /* the last statement that uses the name that it declares */
    uint32_t run, place; /* the stretch of simple statements in which it stands, and where */
    const char *array;   /* of the values of that name in all turns; NULL: it has none */
    uint32_t turn;
};

struct roll {
    struct hg_tree *t, *out, *head, *body; /* as it was and will be; before a loop, and inside */
    struct hg_rolls *all;
    struct item *item;      /* by statement */
    uint32_t *place, n;     /* of the stretch: its simple statements */
    uint32_t run, done;     /* number of the stretch; statements that are put */
};

/* Turns of `period` statements each, from statement `first` of the stretch on. */
struct turns {
    uint32_t first, period, n;
};

static struct item *item(const struct roll *r, uint32_t place)
{
    return &r->item[r->place[place]];
}

static const struct hg_statement *statement(const struct roll *r, uint32_t place)
{
    return &r->t->statement[r->place[place]];
}

static const struct hg_token *token(const struct roll *r, const struct turns *x, uint32_t turn, uint32_t at, uint32_t k)
{
    return &statement(r, x->first + turn * x->period + at)->token[k];
}

static int declares(const struct hg_statement *s)
{
    return s->kind == HG_DECLARATION;
}

/* --- what is declared where ------------------------------------------------------------------------------- */

/* Has a turn room for it?  Declarations are those of [const] TYPE NAME, without stars and brackets. */
static int is_simple(const struct hg_statement *s)
{
    if (s->kind != HG_ACTION && !declares(s))
        return 0;
    for (uint32_t k = 0; k < s->ntoken; k++)
        if (hg_is_mark(&s->token[k], '{'))
            return 0;
    return !declares(s) || (s->name - s->token == 1 + (s->token->spelling->size == 5 &&
                                                       memcmp(s->token->spelling->text, "const", 5) == 0) &&
                            (hg_is_mark(s->name + 1, '=') || hg_is_mark(s->name + 1, ';')));
}

static uint64_t shape_of(const struct hg_statement *s)
{
    uint64_t h = 14695981039346656037u;
    for (uint32_t k = 0; k < s->ntoken; k++) {
        const struct hg_token *x = &s->token[k];
        const int may_differ = x->kind != HG_TOKEN_MARK && x->kind != HG_TOKEN_WORD && x->kind != HG_TOKEN_MEMBER;
        h = (h ^ x->kind) * 1099511628211u;
        if (!may_differ)
            h = (h ^ x->spelling->hash) * 1099511628211u;
    }
    return h;
}

/* The statement that declares each name; names end with their blocks. */
static void find_uses(struct roll *r)
{
    HG_SCRATCH uint32_t *stack = hg_zeros(r->t->n + 1, sizeof *stack);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->t->n; k++) {
        const struct hg_statement *s = &r->t->statement[k];
        for (uint32_t m = 0; m < s->ntoken; m++) {
            struct hg_token *x = &s->token[m];
            if (x->kind != HG_TOKEN_NAME || (declares(s) && x == s->name))
                continue;
            x->def = x->spelling->def;
            if (x->def)
                r->item[x->def - 1].last = k;
        }
        if (declares(s) && r->item[k].simple) {
            s->name->spelling->def = k + 1;
            stack[n++] = k;
        }
        const int depth = k + 1 < r->t->n ? s[1].depth : r->t->depth;
        for (; n && r->t->statement[stack[n - 1]].depth > depth; n--)
            r->t->statement[stack[n - 1]].name->spelling->def = 0;
    }
}

static void number_tables(const struct roll *r)
{
    for (uint32_t k = 0; k < r->all->ntable; k++) {
        const char *one = hg_format(r->t->a, "w.%s", r->all->table[k]);
        const char *two = hg_format(r->t->a, "w->%s", r->all->table[k]);
        hg_spell(r->t->spellings, one, strlen(one))->value = hg_spell(r->t->spellings, two, strlen(two))->value = k + 1;
    }
}

/* --- do turns fit together? ------------------------------------------------------------------------------- */

/* NULL: unknown. */
static const struct item *declared_by(const struct roll *r, const struct hg_token *x)
{
    return x->def ? &r->item[x->def - 1] : NULL;
}

/* Declared in this stretch, from statement `first` on. */
static int is_inside(const struct roll *r, const struct item *d, uint32_t first)
{
    return d && d->run == r->run && d->place >= first;
}

static int names_fit(const struct roll *r, const struct turns *x, uint32_t turn, const struct hg_token *a,
                     const struct hg_token *b)
{
    const struct item *da = declared_by(r, a), *db = declared_by(r, b);
    if (is_inside(r, da, x->first))
        return is_inside(r, db, x->first) && da->place < x->first + x->period &&
               db->place == da->place + turn * x->period;
    if (is_inside(r, db, x->first))
        return 0;
    if (da && db && da->array && db->array)
        return strcmp(da->array, db->array) == 0;
    return a->def == b->def && a->spelling == b->spelling;
}

static int tokens_fit(const struct roll *r, const struct turns *x, uint32_t turn, const struct hg_token *a,
                      const struct hg_token *b)
{
    if (a->kind != b->kind)
        return 0;
    switch ((enum hg_token_kind)a->kind) {
    case HG_TOKEN_NAME: return names_fit(r, x, turn, a, b);
    case HG_TOKEN_TABLE:
        return a->spelling == b->spelling || (a->spelling->value && b->spelling->value &&
                                              a->spelling->text[1] == b->spelling->text[1]);
    case HG_TOKEN_SUBSCRIPT:
    case HG_TOKEN_NUMBER: return 1;
    default: return a->spelling == b->spelling;
    }
}

/* Statement `at` of a turn beside that of the first one. */
static int statement_fits(const struct roll *r, const struct turns *x, uint32_t turn, uint32_t at)
{
    const uint32_t one = x->first + at, other = one + turn * x->period;
    const struct hg_statement *a = statement(r, one), *b = statement(r, other);
    if (a->ntoken != b->ntoken || item(r, one)->shape != item(r, other)->shape)
        return 0;
    for (uint32_t k = 0; k < a->ntoken; k++)
        if (!(declares(a) && &a->token[k] == a->name) && !tokens_fit(r, x, turn, &a->token[k], &b->token[k]))
            return 0;
    return 1;
}

/* The turns from the first on that fit. */
static uint32_t turns_that_fit(const struct roll *r, const struct turns *x)
{
    for (uint32_t turn = 0; turn < x->n; turn++)
        for (uint32_t at = 0; at < x->period; at++)
            if (!statement_fits(r, x, turn, at))
                return turn;
    return x->n;
}

static uint32_t saved_by(const struct roll *r, const struct turns *x)
{
    uint32_t n = 0;
    for (uint32_t at = 0; at < x->period; at++)
        n += statement(r, x->first + at)->ntoken + OF_STATEMENT;
    return (x->n - 1) * n;
}

/* The turns from statement `first` on, before `end`, that save most and more than `saved`. */
static struct turns best_turns(const struct roll *r, uint32_t first, uint32_t end, uint32_t saved)
{
    struct turns best = {first, 0, 0};
    for (uint32_t p = 1; p <= LONGEST_TURN && first + FEWEST_TURNS * p <= end; p++) {
        uint32_t same = 0;
        while (first + same + p < end && item(r, first + same)->shape == item(r, first + same + p)->shape)
            same++;
        struct turns x = {first, p, same / p + 1};
        if (x.n < FEWEST_TURNS || saved_by(r, &x) <= saved)
            continue;
        x.n = turns_that_fit(r, &x);
        if (x.n >= FEWEST_TURNS && saved_by(r, &x) > saved) {
            saved = saved_by(r, &x);
            best = x;
        }
    }
    return best;
}

/* --- the loop --------------------------------------------------------------------------------------------- */

/* What differs from turn to turn of a token: a table, a subscript, the place in an array. */
static uint32_t value_of(const struct roll *r, const struct hg_token *x)
{
    return x->kind == HG_TOKEN_NAME    ? declared_by(r, x)->turn
           : x->kind == HG_TOKEN_TABLE ? x->spelling->value - 1
                                       : x->spelling->value;
}

static int size_of(const struct hg_token *x)
{
    return (int)x->spelling->size;
}

/* What a token is in all turns as a list before the loop; its element. */
static void put_list(struct roll *r, const struct turns *x, uint32_t at, uint32_t k, const char *type, const char *stem,
                     uint32_t in_line)
{
    hg_put(r->head, "%*sstatic const %s %s_%u[] = {", 4 * r->head->depth, "", type, stem, r->all->nlist);
    for (uint32_t turn = 0; turn < x->n; turn++) {
        const struct hg_token *y = token(r, x, turn, at, k);
        hg_put(r->head, "%s", turn % in_line ? ", " : turn ? ",\n        " : "");
        if (y->kind == HG_TOKEN_NUMBER)
            hg_put(r->head, "%.*s", size_of(y), y->spelling->text);
        else
            hg_put(r->head, "%u", value_of(r, y));
    }
    hg_put(r->head, "};\n");
    hg_put(r->body, "%s_%u[turn]", stem, r->all->nlist++);
}

/* The values of a token in all turns as a formula of `turn`: n0 + n1 * turn, or an element of a list. */
static void put_value(struct roll *r, const struct turns *x, uint32_t at, uint32_t k)
{
    const uint32_t a = value_of(r, token(r, x, 0, at, k)), b = value_of(r, token(r, x, 1, at, k));
    int even = b >= a;
    for (uint32_t turn = 0; turn < x->n; turn++)
        even &= value_of(r, token(r, x, turn, at, k)) == a + turn * (b - a);
    if (!even) {
        put_list(r, x, at, k, "unsigned", "places", 20);
    } else if (b == a) {
        hg_put(r->body, "%u", a);
    } else {
        hg_put(r->body, a ? "%u + " : "", a);
        hg_put(r->body, b - a > 1 ? "%u * turn" : "turn", b - a);
    }
}

static void put_token(struct roll *r, const struct turns *x, uint32_t at, uint32_t k)
{
    const struct hg_token *y = token(r, x, 0, at, k);
    const struct item *d = declared_by(r, y);
    const int is_element = d && d->array && !is_inside(r, d, x->first);
    int differs = 0;
    for (uint32_t turn = 1; turn < x->n; turn++)
        differs |= y->spelling != token(r, x, turn, at, k)->spelling;
    if (y->kind == HG_TOKEN_SUBSCRIPT) {
        put_value(r, x, at, k);
    } else if (is_element || (y->kind == HG_TOKEN_TABLE && differs)) {
        r->all->by_number |= !is_element;
        hg_put(r->body, "%s[", is_element ? d->array : y->spelling->text[1] == '.' ? "w.fit_field" : "w->fit_field");
        put_value(r, x, at, k);
        hg_put(r->body, "]");
    } else if (y->kind == HG_TOKEN_NUMBER && differs) {
        put_list(r, x, at, k, "double", "numbers", 6);
    } else {
        hg_put(r->body, "%.*s", size_of(y), y->spelling->text);
    }
}

/* Text of a statement from s to end, one level deeper. */
static void put_deeper(struct hg_tree *t, const char *s, const char *end)
{
    for (const char *line; (line = memchr(s, '\n', (size_t)(end - s))) != NULL && line[1]; s = line + 1)
        hg_put(t, "%.*s    ", (int)(line + 1 - s), s);
    hg_put(t, "%.*s", (int)(end - s), s);
}

static void put_statement(struct roll *r, const struct turns *x, uint32_t at)
{
    const struct hg_statement *y = statement(r, x->first + at);
    const char *s = y->text;
    hg_put(r->body, "    ");
    for (uint32_t k = 0; k < y->ntoken; k++) {
        put_deeper(r->body, s, y->text + y->token[k].at);
        put_token(r, x, at, k);
        s = y->text + y->token[k].at + size_of(&y->token[k]);
    }
    put_deeper(r->body, s, s + strlen(s));
}

/* A name of one of the turns is used behind them. */
static int is_kept(const struct roll *r, const struct turns *x, uint32_t at)
{
    const uint32_t end = r->place[x->first + x->period * x->n - 1];
    for (uint32_t turn = 0; turn < x->n; turn++)
        if (item(r, x->first + turn * x->period + at)->last > end)
            return 1;
    return 0;
}

/* Declares the array of the values of a name that is used behind the loop, and fills it at the end of a turn. */
static void keep_name(struct roll *r, const struct turns *x, uint32_t at)
{
    const struct hg_token *token = statement(r, x->first + at)->name;
    const struct hg_spelling *name = token->spelling, *type = token[-1].spelling;
    const char *array = hg_format(r->t->a, "%.*s_each_%u", (int)name->size, name->text, r->all->narray++);
    hg_declare(r->head, hg_format(r->t->a, "%.*s", (int)type->size, type->text), "%s[%u];", array, x->n);
    hg_do(r->body, "%s[turn] = %.*s;", array, (int)name->size, name->text);
    for (uint32_t turn = 0; turn < x->n; turn++) {
        struct item *y = item(r, x->first + turn * x->period + at);
        y->array = array;
        y->turn = turn;
    }
}

static void put_turns(struct roll *r, const struct turns *x)
{
    r->out->depth = statement(r, x->first)->depth;
    r->head = hg_tree_part(r->t, r->out->depth);
    r->body = hg_tree_part(r->t, r->out->depth + 1);
    for (uint32_t at = 0; at < x->period; at++)
        put_statement(r, x, at);
    for (uint32_t at = 0; at < x->period; at++)
        if (declares(statement(r, x->first + at)) && is_kept(r, x, at))
            keep_name(r, x, at);
    hg_open(r->head, "for (size_t turn = 0; turn < %u; turn++) {", x->n);
    hg_put_tree(r->head, r->body);
    hg_close(r->head);
    hg_put_tree(r->out, r->head);
}

/* --- the tree --------------------------------------------------------------------------------------------- */

/* A statement outside of loops; names of turns are elements there. */
static void put_single(struct roll *r, const struct hg_statement *x)
{
    const char *s = x->text;
    for (uint32_t k = 0; k < x->ntoken; k++) {
        const struct item *d = declared_by(r, &x->token[k]);
        if (!d || !d->array)
            continue;
        hg_put(r->out, "%.*s%s[%u]", (int)(x->text + x->token[k].at - s), s, d->array, d->turn);
        s = x->text + x->token[k].at + size_of(&x->token[k]);
    }
    if (s > x->text)
        hg_put(r->out, "%s", s);
    else
        hg_tree_append(r->out, x);
}

/* The statements before `end`, from the last one that was put. */
static void put_before(struct roll *r, uint32_t end)
{
    for (; r->done < end; r->done++)
        put_single(r, &r->t->statement[r->done]);
}

/* Statements first .. end-1 of the stretch. */
static void put_range(struct roll *r, uint32_t first, uint32_t end, unsigned level)
{
    for (uint32_t p = first; level < LEVELS && p < end; p++) {
        const struct turns x = best_turns(r, p, end, fewest_saved[level] - 1);
        if (!x.n)
            continue;
        put_range(r, first, p, level + 1);
        put_before(r, r->place[p]);
        put_turns(r, &x);
        first = p + x.n * x.period;
        r->done = r->place[first - 1] + 1;
        p = first - 1;
    }
    if (level < LEVELS)
        put_range(r, first, end, level + 1);
    else if (first < end)
        put_before(r, r->place[end - 1] + 1);
}

static int is_remark(const struct hg_statement *s)
{
    return s->ntoken == 0 && s->text[0] != '\n';
}

/* The stretch of simple statements, with remarks between them, that begins here. */
static void put_stretch(struct roll *r)
{
    uint32_t end = r->done;
    r->n = 0;
    r->run++;
    for (; end < r->t->n && (r->item[end].simple || is_remark(&r->t->statement[end])); end++)
        if (r->item[end].simple) {
            r->item[end].run = r->run;
            r->item[end].place = r->n;
            r->place[r->n++] = end;
        }
    put_range(r, 0, r->n, 0);
    put_before(r, end);
}

void hg_roll(struct hg_tree *t, struct hg_rolls *all)
{
    HG_SCRATCH uint32_t *place = hg_zeros(t->n + 1, sizeof *place);
    HG_SCRATCH struct item *items = hg_zeros(t->n + 1, sizeof *items);
    struct roll r = {.t = t, .out = hg_tree_part(t, 0), .all = all, .item = items, .place = place};
    number_tables(&r);
    for (size_t k = 0; k < t->n; k++) {
        items[k].simple = is_simple(&t->statement[k]);
        items[k].shape = shape_of(&t->statement[k]);
    }
    find_uses(&r);
    while (r.done < t->n)
        if (items[r.done].simple)
            put_stretch(&r);
        else
            put_before(&r, r.done + 1);
    t->statement = r.out->statement;
    t->n = r.out->n;
    t->room = r.out->room;
}
