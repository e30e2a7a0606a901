/* roll.c -- replaces repeated statements by loops.
 *
 * At each statement every period is tried: how far the shapes of statements repeat, then in how many turns the words
 * match. A name must be declared at the same position of its own turn, or be the same in all turns, or be one of a name
 * that an earlier loop keeps for all of its turns. Subscripts, fields and numbers may differ. The loop that saves most
 * is taken.
 */
#include "emit/roll.h"

#include <stdlib.h>
#include <string.h>

#include "emit/roll_text.h"

enum { FEWEST_TURNS = 4, LONGEST_TURN = 1500, OF_STATEMENT = 16 };

/* The least number of words and operators that a loop must save, and OF_STATEMENT for each statement: first large
 * loops are searched for, then smaller ones between them. */
static const uint32_t fewest_saved[] = {20000, 2000};
enum { LEVELS = sizeof fewest_saved / sizeof *fewest_saved };

struct roll {
    struct roll_text *t;
    FILE *out;
    uint32_t *place; /* for a stretch of simple statements: their items */
    uint32_t n;
    uint32_t run, ntable, narray;
    uint32_t done; /* items that are put */
    int fields; /* a field in some loop is read by its number */
};

/* Turns of `period` statements each, from statement `first` of the stretch on. */
struct turns {
    uint32_t first, period, n;
};

static struct roll_item *item(const struct roll *r, uint32_t place)
{
    return &r->t->item[r->place[place]];
}

static struct roll_token *token(const struct roll *r, const struct turns *x, uint32_t turn, uint32_t at, uint32_t k)
{
    return &r->t->token[item(r, x->first + turn * x->period + at)->first + k];
}

static int same_text(const struct roll_token *a, const struct roll_token *b)
{
    return a->size == b->size && memcmp(a->s, b->s, a->size) == 0;
}

/* --- do turns match? ------------------------------------------------------------------------------------ */

static const struct roll_item *declared_by(const struct roll *r, const struct roll_token *x)
{
    return x->def ? &r->t->item[x->def - 1] : NULL;
}

/* Declared in this stretch, from statement `first` on. */
static int is_inside(const struct roll *r, const struct roll_item *d, uint32_t first)
{
    return d && d->run == r->run && d->place >= first;
}

static int names_fit(const struct roll *r, const struct turns *x, uint32_t turn, const struct roll_token *a,
                     const struct roll_token *b)
{
    const struct roll_item *da = declared_by(r, a), *db = declared_by(r, b);
    if (is_inside(r, da, x->first))
        return is_inside(r, db, x->first) && da->place < x->first + x->period &&
               db->place == da->place + turn * x->period;
    if (is_inside(r, db, x->first))
        return 0;
    if (da && db && da->array.name && db->array.name)
        return strcmp(da->array.name, db->array.name) == 0;
    return a->def == b->def && same_text(a, b);
}

/* Statement `at` of a turn beside that of the first one. */
static int statement_fits(const struct roll *r, const struct turns *x, uint32_t turn, uint32_t at)
{
    const struct roll_item *a = item(r, x->first + at), *b = item(r, x->first + turn * x->period + at);
    if (a->ntoken != b->ntoken || a->shape != b->shape)
        return 0;
    for (uint32_t k = 0; k < a->ntoken; k++) {
        const struct roll_token *y = token(r, x, 0, at, k), *z = token(r, x, turn, at, k);
        if (y->kind != z->kind)
            return 0;
        if ((y->kind == ROLL_MARK || y->kind == ROLL_FIXED) && !same_text(y, z))
            return 0;
        if (y->kind == ROLL_NAME && a->first + k + 1 != a->declares && !names_fit(r, x, turn, y, z))
            return 0;
    }
    return 1;
}

/* The number of matching turns, from the first on. */
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
        n += item(r, x->first + at)->ntoken + OF_STATEMENT;
    return (x->n - 1) * n;
}

/* The turns from statement `first` on, before `end`, that save most, and more than `saved`. */
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

/* --- the loop -------------------------------------------------------------------------------------------- */

static void put_lines(FILE *out, const char *s, size_t n, int indent)
{
    for (size_t k = 0; k < n; k++) {
        if (indent && (k == 0 || s[k - 1] == '\n'))
            fprintf(out, "%*s", indent, "");
        fputc(s[k], out);
    }
}

/* A name outside the turns that declare it. */
static void put_name(FILE *out, const struct roll *r, const struct roll_token *x)
{
    const struct roll_item *d = x->kind == ROLL_NAME ? declared_by(r, x) : NULL;
    if (d && d->array.name)
        fprintf(out, "%s[%u]", d->array.name, d->array.place);
    else
        fwrite(x->s, 1, x->size, out);
}

/* The part of a token that differs from turn to turn: a field, a subscript, the index in an array. */
static uint32_t value_of(const struct roll *r, const struct roll_token *x)
{
    return x->kind == ROLL_NAME ? declared_by(r, x)->array.place : x->value;
}

static int indent_of(const struct roll *r, const struct turns *x)
{
    return 4 * item(r, x->first)->depth;
}

/* The values of a token in all turns as a formula of `turn`: n0 + n1 * turn, or an element of a table. */
static void put_value(FILE *out, FILE *head, struct roll *r, const struct turns *x, uint32_t at, uint32_t k)
{
    const uint32_t a = value_of(r, token(r, x, 0, at, k)), b = value_of(r, token(r, x, 1, at, k));
    int even = b >= a;
    for (uint32_t turn = 0; turn < x->n; turn++)
        even &= value_of(r, token(r, x, turn, at, k)) == a + turn * (b - a);
    if (even && b == a) {
        fprintf(out, "%u", a);
    } else if (even) {
        fprintf(out, a ? "%u + " : "", a);
        fprintf(out, b - a > 1 ? "%u * turn" : "turn", b - a);
    } else {
        fprintf(head, "%*sstatic const unsigned places_%u[] = {", indent_of(r, x), "", r->ntable);
        for (uint32_t turn = 0; turn < x->n; turn++)
            fprintf(head, "%s%u", turn % 20 ? ", " : turn ? ",\n        " : "", value_of(r, token(r, x, turn, at, k)));
        fprintf(head, "};\n");
        fprintf(out, "places_%u[turn]", r->ntable++);
    }
}

/* A number that differs from turn to turn. */
static void put_numbers(FILE *out, FILE *head, struct roll *r, const struct turns *x, uint32_t at, uint32_t k)
{
    int same = 1;
    for (uint32_t turn = 1; turn < x->n; turn++)
        same &= same_text(token(r, x, 0, at, k), token(r, x, turn, at, k));
    if (same) {
        put_name(out, r, token(r, x, 0, at, k));
        return;
    }
    fprintf(head, "%*sstatic const double numbers_%u[] = {", indent_of(r, x), "", r->ntable);
    for (uint32_t turn = 0; turn < x->n; turn++) {
        fputs(turn % 6 ? ", " : turn ? ",\n        " : "", head);
        put_name(head, r, token(r, x, turn, at, k));
    }
    fprintf(head, "};\n");
    fprintf(out, "numbers_%u[turn]", r->ntable++);
}

static void put_token(FILE *out, FILE *head, struct roll *r, const struct turns *x, uint32_t at, uint32_t k)
{
    const struct roll_token *y = token(r, x, 0, at, k);
    const struct roll_item *d = y->kind == ROLL_NAME ? declared_by(r, y) : NULL;
    int differs = 0;
    for (uint32_t turn = 1; turn < x->n; turn++)
        differs |= !same_text(y, token(r, x, turn, at, k));
    if (y->kind == ROLL_FIELD && differs) {
        r->fields = 1;
        fprintf(out, y->s[1] == '.' ? "w.fit_field[" : "w->fit_field[");
        put_value(out, head, r, x, at, k);
        fputc(']', out);
    } else if (y->kind == ROLL_INTEGER) {
        put_value(out, head, r, x, at, k);
    } else if (y->kind == ROLL_NUMBER) {
        put_numbers(out, head, r, x, at, k);
    } else if (d && d->array.name && !is_inside(r, d, x->first)) {
        fprintf(out, "%s[", d->array.name);
        put_value(out, head, r, x, at, k);
        fputc(']', out);
    } else {
        fwrite(y->s, 1, y->size, out);
    }
}

static void put_statement(FILE *out, FILE *head, struct roll *r, const struct turns *x, uint32_t at)
{
    const struct roll_item *y = item(r, x->first + at);
    const char *s = y->s;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        hg_out_of_memory();
    for (uint32_t k = 0; k < y->ntoken; k++) {
        const struct roll_token *z = token(r, x, 0, at, k);
        fwrite(s, 1, (size_t)(z->s - s), f);
        put_token(f, head, r, x, at, k);
        s = z->s + z->size;
    }
    fwrite(s, 1, (size_t)(y->s + y->size - s), f);
    if (fclose(f) != 0)
        hg_out_of_memory();
    put_lines(out, text, size, 4);
    free(text);
}

/* A name of one of the turns is used after them. */
static int is_kept(const struct roll *r, const struct turns *x, uint32_t at)
{
    const uint32_t end = r->place[x->first + x->period * x->n - 1];
    for (uint32_t turn = 0; turn < x->n; turn++)
        if (item(r, x->first + turn * x->period + at)->last > end)
            return 1;
    return 0;
}

/* Declares the array for the values of a name that is used after the loop, and fills it at the end of a turn. */
static void keep_name(FILE *fill, FILE *head, struct roll *r, const struct turns *x, uint32_t at)
{
    const struct roll_item *y = item(r, x->first + at);
    const struct roll_token *name = &r->t->token[y->declares - 1], *type = name - 1;
    const char *array = hg_format(r->t->a, "%.*s_each_%u", (int)name->size, name->s, r->narray++);
    fprintf(head, "%*s%.*s %s[%u];\n", indent_of(r, x), "", (int)type->size, type->s, array, x->n);
    fprintf(fill, "%*s%s[turn] = %.*s;\n", indent_of(r, x) + 4, "", array, (int)name->size, name->s);
    for (uint32_t turn = 0; turn < x->n; turn++)
        item(r, x->first + turn * x->period + at)->array = (struct roll_array){array, turn};
}

static void put_turns(struct roll *r, const struct turns *x)
{
    char *head_text = NULL, *body_text = NULL, *fill_text = NULL;
    size_t head_size, body_size, fill_size;
    FILE *head = open_memstream(&head_text, &head_size), *body = open_memstream(&body_text, &body_size),
         *fill = open_memstream(&fill_text, &fill_size);
    if (!head || !body || !fill)
        hg_out_of_memory();
    for (uint32_t at = 0; at < x->period; at++)
        put_statement(body, head, r, x, at);
    for (uint32_t at = 0; at < x->period; at++)
        if (item(r, x->first + at)->declares && is_kept(r, x, at))
            keep_name(fill, head, r, x, at);
    if (fclose(head) != 0 || fclose(body) != 0 || fclose(fill) != 0)
        hg_out_of_memory();
    const int indent = indent_of(r, x);
    fprintf(r->out, "%s%*sfor (size_t turn = 0; turn < %u; turn++) {\n%s%s%*s}\n", head_text, indent, "", x->n,
            body_text, fill_text, indent, "");
    free(head_text);
    free(body_text);
    free(fill_text);
}

/* --- the file -------------------------------------------------------------------------------------------- */

static void put_item(const struct roll *r, const struct roll_item *x)
{
    const char *s = x->s;
    for (uint32_t k = x->first; k < x->first + x->ntoken; k++) {
        const struct roll_token *y = &r->t->token[k];
        fwrite(s, 1, (size_t)(y->s - s), r->out);
        put_name(r->out, r, y);
        s = y->s + y->size;
    }
    fwrite(s, 1, (size_t)(x->s + x->size - s), r->out);
}

/* The items before `item`, from the last one that was put. */
static void put_items_before(struct roll *r, uint32_t item)
{
    for (; r->done < item; r->done++)
        put_item(r, &r->t->item[r->done]);
}

/* Statements first .. end-1 of the stretch. */
static void put_range(struct roll *r, uint32_t first, uint32_t end, unsigned level)
{
    for (uint32_t p = first; level < LEVELS && p < end; p++) {
        const struct turns x = best_turns(r, p, end, fewest_saved[level] - 1);
        if (!x.n)
            continue;
        put_range(r, first, p, level + 1);
        put_items_before(r, r->place[p]);
        put_turns(r, &x);
        first = p + x.n * x.period;
        r->done = r->place[first - 1] + 1;
        p = first - 1;
    }
    if (level < LEVELS)
        put_range(r, first, end, level + 1);
    else if (first < end)
        put_items_before(r, r->place[end - 1] + 1);
}

/* The items from k to the end of a stretch of simple statements, rolled; returns the end. */
static uint32_t put_stretch(struct roll *r, uint32_t k)
{
    uint32_t end = k;
    r->n = 0;
    r->run++;
    r->done = k;
    for (; end < r->t->nitem && (r->t->item[end].simple || r->t->item[end].comment); end++)
        if (r->t->item[end].simple) {
            r->t->item[end].run = r->run;
            r->t->item[end].place = r->n;
            r->place[r->n++] = end;
        }
    put_range(r, 0, r->n, 0);
    put_items_before(r, end);
    return end;
}

/* struct tables with its members also as one array. */
static void put_file(const struct roll *r, const char *text, FILE *out)
{
    static const char head[] = "\nstruct tables {\n";
    const char *s = r->fields ? strstr(text, head) : NULL, *end = s ? strstr(s, "\n};\n") : NULL;
    if (!s || !end) {
        fputs(text, out);
        return;
    }
    fwrite(text, 1, (size_t)(s - text), out);
    fprintf(out, "%s    union {\n    struct {\n", head);
    s += sizeof head - 1;
    fwrite(s, 1, (size_t)(end + 1 - s), out);
    fprintf(out, "    };\n    double *fit_field[%u]; /* the same, by their numbers */\n    };%s", r->t->nfield, end);
}

void hg_roll(const char *text, FILE *out)
{
    struct hg_arena *a = hg_arena_new(); /* words need more memory than the text: released at once */
    struct roll r = {.t = roll_read(a, text)};
    char *rolled = NULL;
    size_t size = 0;
    HG_SCRATCH uint32_t *place = hg_zeros(r.t->nitem + 1, sizeof *place);
    r.place = place;
    r.out = open_memstream(&rolled, &size);
    if (!r.out)
        hg_out_of_memory();
    for (uint32_t k = 0; k < r.t->nitem;) {
        if (r.t->item[k].simple)
            k = put_stretch(&r, k);
        else
            put_item(&r, &r.t->item[k++]);
    }
    if (fclose(r.out) != 0)
        hg_out_of_memory();
    put_file(&r, rolled, out);
    free(rolled);
    hg_arena_free(a);
}
