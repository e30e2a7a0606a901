/* words.c -- names made from the model's own words.
 *
 * First the whole expression is spelled out, if the result is short: one_plus_x, q_sq, cos_psi, delay_over_tau.
 * Otherwise the name combines the main subject of the expression with the operation: exp_J_ref, fraction_prod. Subjects
 * are searched in this order: expressions that the author has named; the columns or the time; parameters; settings. The
 * caller names all remaining expressions after their operation.
 */
#include "graph/words.h"

#include <string.h>

enum { SHORT = 16, LONGEST = 24, DEEPEST = 4, MOST_VISITS = 1000 };

struct words {
    const struct hg_expr *e;
    const char *(*known)(const void *user, hg_id id);
    const void *user;
    int visits;
};

static const char *read_out(struct words *w, hg_id id, int depth);

static const char *kept(const char *s)
{
    return s && strlen(s) <= LONGEST ? s : NULL;
}

/* prefix + name of the node + suffix */
static const char *around(struct words *w, const char *prefix, hg_id id, const char *suffix, int depth)
{
    const char *x = read_out(w, id, depth + 1);
    return x ? kept(hg_format(w->e->arena, "%s%s%s", prefix, x, suffix)) : NULL;
}

static int starts(const char *s, const char *with)
{
    return s && strncmp(s, with, strlen(with)) == 0;
}

static const struct {
    double v;
    const char *word;
} numbers[] = {{0.5, "half"}, {1, "one"}, {2, "two"}, {3, "three"}, {4, "four"}};

static const char *number_word(double v)
{
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (numbers[k].v == v) /* the exact literal */
            return numbers[k].word;
    return NULL;
}

static int number_starts(const char *s)
{
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (starts(s, numbers[k].word))
            return 1;
    return 0;
}

static const char *read_power(struct words *w, const struct hg_node *n, int depth)
{
    static const struct {
        double exponent;
        const char *prefix, *suffix;
    } list[] = {{2, "", "_sq"},         {3, "", "_cubed"},        {4, "", "_to_4"},     {0.5, "sqrt_", ""},
                {-1, "inv_", ""},       {-2, "inv_", "_sq"},      {-3, "inv_", "_cubed"}, {-4, "inv_", "_to_4"},
                {-0.5, "inv_sqrt_", ""}};
    double b;
    if (!hg_is_const(w->e, n->arg[1], &b)) {
        const char *x = read_out(w, n->arg[0], depth + 1), *y = read_out(w, n->arg[1], depth + 1);
        return x && y ? kept(hg_format(w->e->arena, "%s_to_%s", x, y)) : NULL;
    }
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (list[k].exponent == b)
            return around(w, list[k].prefix, n->arg[0], list[k].suffix, depth);
    return around(w, "", n->arg[0], "_power", depth);
}

static const char *joined(struct words *w, const char *a, const char *between, const char *b)
{
    return a ? kept(hg_format(w->e->arena, "%s%s%s", a, between, b)) : b;
}

/* A constant factor: its sign, and its word or "" for 1 and for degrees to radians; 0 when it has no word. */
static int read_number(double v, int *negative, const char **word)
{
    const double degree = 0.017453292519943295;
    *negative ^= v < 0;
    v = v < 0 ? -v : v;
    *word = v == 1 || v == degree ? "" : number_word(v); /* exact literals */
    return *word != NULL;
}

/* Numerators, and denominators after "over". */
static const char *read_product(struct words *w, const struct hg_node *n, int depth)
{
    struct hg_arena *a = w->e->arena;
    const char *top = NULL, *bottom = NULL, *number = "";
    int negative = 0;
    double v;
    if (n->nargs == 2 && n->arg[0] == n->arg[1])
        return around(w, "", n->arg[0], "_sq", depth);
    for (uint32_t k = 0; k < n->nargs; k++) {
        if (hg_is_const(w->e, n->arg[k], &v)) {
            if (!read_number(v, &negative, &number))
                return NULL;
            continue;
        }
        const char *x = read_out(w, n->arg[k], depth + 1);
        if (starts(x, "minus_"))
            negative ^= 1, x += 6;
        if (!x || (*number && number_starts(x)))
            return NULL;
        const char **to = starts(x, "inv_") ? &bottom : &top;
        *to = joined(w, *to, "_", x + (to == &bottom ? 4 : 0));
        if (!*to)
            return NULL;
    }
    if (*number)
        top = top ? hg_format(a, "%s_%s", number, top) : number;
    const char *s = !bottom ? top : !top ? hg_format(a, "inv_%s", bottom) : hg_format(a, "%s_over_%s", top, bottom);
    return s ? kept(hg_format(a, "%s%s", negative ? "minus_" : "", s)) : NULL;
}

/* Two terms: "b2_minus_b3_x", "one_plus_x", "beta_minus_one". */
static const char *read_sum(struct words *w, const struct hg_node *n, int depth)
{
    const char *term[2];
    double v;
    if (n->nargs != 2)
        return NULL;
    for (uint32_t k = 0; k < 2; k++) {
        term[k] = !hg_is_const(w->e, n->arg[k], &v) ? read_out(w, n->arg[k], depth + 1) : number_word(v < 0 ? -v : v);
        if (!term[k])
            return NULL;
        if (hg_is_const(w->e, n->arg[k], &v) && v < 0)
            term[k] = hg_format(w->e->arena, "minus_%s", term[k]);
    }
    int swap = starts(term[0], "minus_") && !starts(term[1], "minus_");
    const char *x = term[swap], *y = term[!swap];
    return joined(w, x, starts(y, "minus_") ? "_" : "_plus_", y);
}

static const char *function_word(enum hg_op op)
{
    switch (op) {
    case HG_EXPD: return "exp";
    case HG_SINC_SERIES: return "sinc";
    case HG_DSINC_SERIES: return "dsinc";
    case HG_SIND: return "sin";
    case HG_COSD: return "cos";
    case HG_ABS: return "abs";
    default: return (hg_op_flags[op] & HG_F_POINTWISE) && !(hg_op_flags[op] & HG_F_BOOL) ? hg_op_text[op] : NULL;
    }
}

static const char *read_out(struct words *w, hg_id id, int depth)
{
    const struct hg_node *n = hg_at(w->e, id);
    const char *s = w->known && depth > 0 ? w->known(w->user, id) : NULL;
    if (s || n->name)
        return s ? s : n->name;
    if (depth > DEEPEST || ++w->visits > MOST_VISITS)
        return NULL;
    switch (n->op) {
    case HG_STEP: return "step";
    case HG_HOLD: return read_out(w, n->arg[0], depth);
    case HG_AT_I: return around(w, "", n->arg[0], "_i", depth);
    case HG_AT_J: return around(w, "", n->arg[0], "_j", depth);
    case HG_DELTA: return around(w, "d_", n->arg[0], "", depth);
    case HG_POTENTIAL: return around(w, "int_", n->arg[0], "", depth);
    case HG_POW: return read_power(w, n, depth);
    case HG_PROD: return read_product(w, n, depth);
    case HG_SUM: return read_sum(w, n, depth);
    case HG_WHERE:
    case HG_GUARD: return NULL;
    default: break;
    }
    s = n->nargs == 1 ? function_word(n->op) : NULL;
    return s ? around(w, hg_format(w->e->arena, "%s_", s), n->arg[0], "", depth) : NULL;
}

/* --- the subject ---------------------------------------------------------------------------------- */

enum { MOST_WORDS = 2, NAMED = 3 };

struct topic {
    int rank;
    const char *word[MOST_WORDS];
    int n; /* more than MOST_WORDS: too many to tell */
};

static int rank_of(const struct hg_node *n)
{
    switch (n->op) {
    case HG_SETTING:
    case HG_STEP: return 0;
    case HG_PARAM:
    case HG_LINEAR:
    case HG_LOCAL: return 1;
    case HG_TIME:
    case HG_COLUMN:
    case HG_COORD:
    case HG_INPUT: return 2;
    default: return NAMED;
    }
}

static void look(struct words *w, hg_id id, struct topic *t)
{
    const struct hg_node *n = hg_at(w->e, id);
    if (++w->visits > MOST_VISITS)
        return;
    if (!n->name) {
        for (uint32_t k = 0; k < n->nargs; k++)
            look(w, n->arg[k], t);
        return;
    }
    int rank = rank_of(n);
    if (rank < t->rank)
        return;
    if (rank > t->rank)
        *t = (struct topic){.rank = rank};
    for (int k = 0; k < t->n && k < MOST_WORDS; k++)
        if (strcmp(t->word[k], n->name) == 0)
            return;
    if (t->n < MOST_WORDS)
        t->word[t->n] = n->name;
    t->n++;
}

/* Operations on expressions that the author has named use that name alone: exp_J_ref. */
static const char *about(struct words *w, hg_id id, int depth)
{
    struct hg_arena *a = w->e->arena;
    struct topic t = {.rank = -1};
    const struct hg_node *n = hg_at(w->e, id);
    if (n->name)
        return n->name;
    w->visits = 0;
    for (uint32_t k = 0; k < n->nargs; k++)
        look(w, n->arg[k], &t);
    if (w->visits > MOST_VISITS || t.n == 0 || t.n > MOST_WORDS)
        return NULL;
    const char *word = t.n == 1 ? t.word[0] : hg_format(a, "%s_%s", t.word[0], t.word[1]);
    if (t.rank < NAMED && n->nargs == 1 && depth < DEEPEST)
        word = about(w, n->arg[0], depth + 1);
    if (!word)
        return NULL;
    switch (n->op) {
    case HG_HOLD: return kept(word);
    case HG_SUM: return kept(hg_format(a, "%s_sum", word));
    case HG_PROD: return kept(hg_format(a, "%s_prod", word));
    case HG_POW: return kept(hg_format(a, "%s_power", word));
    case HG_WHERE:
    case HG_GUARD: return kept(hg_format(a, "%s_choice", word));
    case HG_POTENTIAL: return kept(hg_format(a, "int_%s", word));
    case HG_DELTA: return kept(hg_format(a, "d_%s", word));
    case HG_AT_I: return kept(hg_format(a, "%s_i", word));
    case HG_AT_J: return kept(hg_format(a, "%s_j", word));
    default: break;
    }
    const char *f = function_word(n->op);
    return f ? kept(hg_format(a, "%s_%s", f, word)) : NULL;
}

/* 1 when the author has named just one thing below the node. */
static int about_one(struct words *w, hg_id id)
{
    struct topic t = {.rank = -1};
    const struct hg_node *n = hg_at(w->e, id);
    w->visits = 0;
    for (uint32_t k = 0; k < n->nargs; k++)
        look(w, n->arg[k], &t);
    return t.rank == NAMED && t.n == 1 && w->visits <= MOST_VISITS;
}

const char *hg_words(const struct hg_expr *e, hg_id id, const char *(*known)(const void *user, hg_id id),
                     const void *user)
{
    struct words w = {.e = e, .known = known, .user = user};
    const char *s = read_out(&w, id, 0);
    if (!s || (!hg_at(e, id)->name && strlen(s) > SHORT && about_one(&w, id))) {
        const char *t = about(&w, id, 0);
        s = t ? t : s;
    }
    return s;
}
