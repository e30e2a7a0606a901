/* typeset.c -- written formulas (written.h) as boxes.
 *
 * Rules. A sum is a row of signed terms; a product a row of factors, numbers first, signs taken to the front; a
 * quotient a fraction, with a slash in exponents and before units. Named parts appear by name, as functions of t where
 * they are; at(f, t1) is f with t1 for t. A choice that bounds a value is max or min.
 */
#include "document/typeset_private.h"
#include "graph/march.h"

#include <math.h>
#include <string.h>

#include "graph/functions.h"
#include "base/diag.h"

enum { MAX_BOXES = 20000 };

static const struct hg_box *box(struct typeset *t, enum hg_box_kind kind, const char *text, const char *tex, uint32_t n,
                                const struct hg_box *const *child)
{
    t->boxes++;
    return hg_box(t->a, kind, text, tex, n, child);
}

const struct hg_box *typeset_leaf(struct typeset *t, enum hg_box_kind kind, const char *text, const char *tex)
{
    return box(t, kind, text, tex, 0, NULL);
}

const struct hg_box *typeset_two(struct typeset *t, enum hg_box_kind kind, const struct hg_box *x,
                                 const struct hg_box *y)
{
    const struct hg_box *child[2] = {x, y};
    return box(t, kind, NULL, NULL, 2, child);
}

void typeset_put(struct row *r, const struct hg_box *b)
{
    r->item = hg_grow(r->a, r->item, r->n, r->n + 1, sizeof *r->item, &r->room);
    r->item[r->n++] = b;
}

const struct hg_box *typeset_row(struct typeset *t, const struct row *r)
{
    return r->n == 1 ? r->item[0] : box(t, HG_BOX_ROW, NULL, NULL, r->n, r->item);
}

const struct hg_box *typeset_fence(struct typeset *t, const char *pair, const struct hg_box *inside)
{
    return box(t, HG_BOX_FENCE, pair, NULL, 1, &inside);
}

const struct hg_box *typeset_minus(struct typeset *t, int prefix)
{
    return typeset_leaf(t, prefix ? HG_BOX_PREFIX : HG_BOX_SIGN, "−", "-");
}

/* A formula in parts: its box, its precedence, and a sign taken out. */
struct term {
    const struct hg_box *box;
    enum level level;
    int negative;
};

static struct term term(struct typeset *t, hg_wid id);
static const struct hg_box *expression(struct typeset *t, hg_wid id);
static const struct hg_box *factor(struct typeset *t, hg_wid id);

/* --- names ------------------------------------------------------------------------------------ */

static const struct hg_box *with_subscript(struct typeset *t, const struct hg_box *base, const struct hg_box *sub)
{
    if (base->kind != HG_BOX_SUB)
        return typeset_two(t, HG_BOX_SUB, base, sub);
    struct row r = {.a = t->a};
    typeset_put(&r, base->child[1]);
    typeset_put(&r, typeset_leaf(t, HG_BOX_COMMA, ",", NULL));
    typeset_put(&r, sub);
    return typeset_two(t, HG_BOX_SUB, base->child[0], typeset_row(t, &r));
}

/* base to a power; a subscript and the power stand above each other */
static const struct hg_box *with_power(struct typeset *t, const struct hg_box *base, const struct hg_box *power)
{
    if (base->kind != HG_BOX_SUB)
        return typeset_two(t, HG_BOX_SUP, base, power);
    const struct hg_box *child[3] = {base->child[0], base->child[1], power};
    return box(t, HG_BOX_SUBSUP, NULL, NULL, 3, child);
}

const struct hg_box *typeset_pair_time(struct typeset *t, int second)
{
    const char *name = t->m->grid_name ? t->m->grid_name : "t";
    return with_subscript(t, hg_typeset_name(t->a, name), typeset_leaf(t, HG_BOX_NUMBER, second ? "2" : "1", NULL));
}

const struct hg_box *typeset_declared(struct typeset *t, const struct hg_symbol_decl *s)
{
    const struct hg_box *name = hg_typeset_name(t->a, s->name);
    return s->over < 0 ? name : with_subscript(t, name, hg_typeset_name(t->a, t->m->axis.item[s->over].name));
}

/* The name of a state; that of the previous row has a subscript. */
static const struct hg_box *typeset_state(struct typeset *t, struct hg_carried_place p)
{
    const struct hg_box *name = hg_typeset_name(t->a, t->m->state.item[p.state].name);
    struct row r = {.a = t->a};
    if (!p.before)
        return name;
    typeset_put(&r, typeset_leaf(t, HG_BOX_LETTER, "n", NULL));
    typeset_put(&r, typeset_minus(t, 0));
    typeset_put(&r, typeset_leaf(t, HG_BOX_NUMBER, "1", NULL));
    return with_subscript(t, name, typeset_row(t, &r));
}

const struct hg_box *typeset_symbol(struct typeset *t, hg_id node)
{
    const struct hg_model *m = t->m;
    const struct hg_node *n = hg_at(m->expr, node);
    switch (n->op) {
    case HG_PARAM:
        return node == t->many ? typeset_leaf(t, HG_BOX_LETTER, "θ", "\\theta")
                               : typeset_declared(t, &m->param.item[n->ref]);
    case HG_LINEAR: return typeset_declared(t, &m->linear.item[n->ref]);
    case HG_SETTING: return typeset_declared(t, &m->setting.item[n->ref]);
    case HG_COORD: return typeset_declared(t, &m->axis.item[n->ref]);
    case HG_COLUMN: return typeset_declared(t, &m->column.item[n->ref]);
    case HG_TIME: return t->time ? t->time : hg_typeset_name(t->a, m->grid_name);
    case HG_STEP: {
        struct row r = {.a = t->a};
        typeset_put(&r, typeset_leaf(t, HG_BOX_LETTER, "Δ", "\\Delta"));
        typeset_put(&r, hg_typeset_name(t->a, m->grid_name));
        return typeset_row(t, &r);
    }
    case HG_CARRIED: return typeset_state(t, hg_carried_at(n->ref));
    case HG_AT_I:
    case HG_AT_J: return typeset_pair_time(t, n->op == HG_AT_J);
    default: return typeset_leaf(t, HG_BOX_WORD, n->name ? n->name : "?", NULL);
    }
}

static const struct hg_box *numbered(struct typeset *t, uint32_t n)
{
    const char *text = hg_format(t->a, "%u", (unsigned)n);
    return typeset_fence(t, "()", typeset_leaf(t, HG_BOX_NUMBER, text, NULL));
}

static const struct hg_box *primes(struct typeset *t, uint32_t n)
{
    static const char *const text[] = {"′", "″", "‴"};
    static const char *const tex[] = {"\\prime", "\\prime\\prime", "\\prime\\prime\\prime"};
    return n > 3 ? numbered(t, n) : typeset_leaf(t, HG_BOX_PREFIX, text[n - 1], tex[n - 1]);
}

/* The name of a part, with (t) when it is a function of time. */
const struct hg_box *typeset_part_name(struct typeset *t, hg_wid id)
{
    const struct hg_written *w = hg_written_at(t->m, id);
    struct row r = {.a = t->a};
    const struct hg_box *name = hg_typeset_name(t->a, w->name);
    if (w->number || w->primes)
        name = with_power(t, name, w->number ? numbered(t, w->number) : primes(t, w->primes));
    typeset_put(&r, name);
    if (w->node && hg_at(t->m->expr, w->node)->vary & HG_T)
        typeset_put(&r, typeset_fence(t, "()", t->time ? t->time : hg_typeset_name(t->a, t->m->grid_name)));
    return typeset_row(t, &r);
}

const struct hg_box *typeset_partial(struct typeset *t, const struct hg_box *of, const struct hg_box *by)
{
    const struct hg_box *d = typeset_leaf(t, HG_BOX_LETTER, "∂", "\\partial ");
    return typeset_two(t, HG_BOX_FRACTION, typeset_two(t, HG_BOX_ROW, d, of), typeset_two(t, HG_BOX_ROW, d, by));
}

/* --- functions -------------------------------------------------------------------------------- */

/* NULL: typeset by a rule of its own. */
static const struct hg_function *find_function(enum hg_op op)
{
    const struct hg_function *f = hg_function(op);
    return f && f->shown ? f : NULL;
}

const struct hg_box *typeset_call(struct typeset *t, const struct hg_box *name, const struct hg_box *argument)
{
    return typeset_two(t, HG_BOX_ROW, name, typeset_fence(t, "()", argument));
}

static const struct hg_box *word(struct typeset *t, const char *text, const char *tex)
{
    return typeset_leaf(t, HG_BOX_WORD, text, tex);
}

/* a, b in parentheses after a word */
static const struct hg_box *call_two(struct typeset *t, const char *name, const char *tex, hg_wid x, hg_wid y)
{
    struct row r = {.a = t->a};
    typeset_put(&r, expression(t, x));
    typeset_put(&r, typeset_leaf(t, HG_BOX_COMMA, ",", NULL));
    typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
    typeset_put(&r, expression(t, y));
    return typeset_call(t, word(t, name, tex), typeset_row(t, &r));
}

static const struct hg_box *function_call(struct typeset *t, enum hg_op op, hg_wid x, const struct hg_box *power)
{
    const struct hg_function *f = find_function(op);
    struct row r = {.a = t->a};
    if (op == HG_ABS)
        return typeset_fence(t, "||", expression(t, x));
    if (op == HG_LOG1P || op == HG_EXPM1) {
        typeset_put(&r, op == HG_LOG1P ? typeset_leaf(t, HG_BOX_NUMBER, "1", NULL)
                                       : typeset_call(t, word(t, "exp", "\\exp"), expression(t, x)));
        typeset_put(&r, op == HG_LOG1P ? typeset_leaf(t, HG_BOX_SIGN, "+", NULL) : typeset_minus(t, 0));
        typeset_put(&r, op == HG_LOG1P ? factor(t, x) : typeset_leaf(t, HG_BOX_NUMBER, "1", NULL));
        if (op == HG_EXPM1)
            return typeset_fence(t, "()", typeset_row(t, &r));
        return typeset_call(t, word(t, f->shown, f->tex), typeset_row(t, &r));
    }
    const struct hg_box *name = f ? word(t, f->shown, f->tex) : word(t, hg_op_text[op], NULL);
    return typeset_call(t, power ? typeset_two(t, HG_BOX_SUP, name, power) : name, expression(t, x));
}

/* f_n(x, y) for a function of an order */
static const struct hg_box *many_call(struct typeset *t, const struct hg_written *w)
{
    const struct hg_many *f = hg_many(w->op);
    struct row r = {.a = t->a};
    for (uint32_t k = 1; k < w->nargs; k++) {
        if (k > 1) {
            typeset_put(&r, typeset_leaf(t, HG_BOX_COMMA, ",", NULL));
            typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
        }
        typeset_put(&r, expression(t, w->arg[k]));
    }
    const struct hg_box *name = word(t, f->shown, f->tex);
    if (f->most > 0)
        name = typeset_two(t, HG_BOX_SUB, name, expression(t, w->arg[0]));
    return typeset_call(t, name, typeset_row(t, &r));
}

static const struct hg_box *condition(struct typeset *t, hg_wid id)
{
    const struct hg_written *w = hg_written_at(t->m, id);
    struct row r = {.a = t->a};
    if (w->word != HG_W_LT && w->word != HG_W_LE && w->word != HG_W_GT)
        return expression(t, id);
    typeset_put(&r, expression(t, w->arg[0]));
    if (w->word == HG_W_LE)
        typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "≤", "\\le"));
    else
        typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, w->word == HG_W_LT ? "<" : ">", NULL));
    typeset_put(&r, expression(t, w->arg[1]));
    return typeset_row(t, &r);
}

static const struct hg_box *choice(struct typeset *t, hg_wid id)
{
    hg_wid a, b;
    int extremum = hg_written_extremum(t->m, id, &a, &b);
    if (extremum)
        return call_two(t, extremum > 0 ? "max" : "min", extremum > 0 ? "\\max" : "\\min", a, b);
    const struct hg_written w = *hg_written_at(t->m, id);
    struct row r = {.a = t->a};
    typeset_put(&r, expression(t, w.arg[1]));
    typeset_put(&r, typeset_two(t, HG_BOX_ROW, typeset_leaf(t, HG_BOX_TEXT, "if ", NULL), condition(t, w.arg[0])));
    typeset_put(&r, expression(t, w.arg[2]));
    typeset_put(&r, typeset_leaf(t, HG_BOX_TEXT, "otherwise", NULL));
    return box(t, HG_BOX_CASES, NULL, NULL, r.n, r.item);
}

static const struct hg_box *large_sign(struct typeset *t, int sum, hg_wid lower, hg_wid upper, hg_wid bound)
{
    struct row r = {.a = t->a};
    if (bound) {
        typeset_put(&r, expression(t, bound));
        typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "=", NULL));
    }
    typeset_put(&r, expression(t, lower));
    const struct hg_box *child[2] = {typeset_row(t, &r), expression(t, upper)};
    return box(t, HG_BOX_INTEGRAL, sum ? "∑" : "∫", sum ? "\\sum" : "\\int", 2, child);
}

/* A sum over k, an integral over x. */
static const struct hg_box *over_bound(struct typeset *t, const struct hg_written *w)
{
    struct row r = {.a = t->a};
    const int sum = w->word == HG_W_TOTAL;
    typeset_put(&r, large_sign(t, sum, w->arg[2], w->arg[3], sum ? w->arg[1] : 0));
    typeset_put(&r, factor(t, w->arg[0]));
    if (!sum) {
        typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
        typeset_put(&r, typeset_leaf(t, HG_BOX_WORD, "d", "\\mathrm{d}"));
        typeset_put(&r, expression(t, w->arg[1]));
    }
    return typeset_row(t, &r);
}

/* mean of f over x ~ normal(a, b) */
static const struct hg_box *mean_over(struct typeset *t, const struct hg_written *w)
{
    static const char *const name[HG_NDISTRIBUTIONS] = {"Normal", "LogNormal", "Schulz", "Uniform"};
    struct row r = {.a = t->a};
    const char *law = name[(int)w->value];
    typeset_put(&r, expression(t, w->arg[1]));
    typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "~", "\\sim"));
    typeset_put(&r, call_two(t, law, hg_format(t->a, "\\operatorname{%s}", law), w->arg[2], w->arg[3]));
    return typeset_call(t, with_subscript(t, word(t, "mean", NULL), typeset_row(t, &r)), expression(t, w->arg[0]));
}

static const struct hg_box *integral(struct typeset *t, const struct hg_written *w)
{
    const struct hg_box *outer = t->time;
    struct row r = {.a = t->a};
    typeset_put(&r, large_sign(t, 0, w->arg[1], w->arg[2], 0));
    t->time = NULL;
    typeset_put(&r, factor(t, w->arg[0]));
    t->time = outer;
    typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
    typeset_put(&r, typeset_leaf(t, HG_BOX_WORD, "d", "\\mathrm{d}"));
    typeset_put(&r, hg_typeset_name(t->a, t->m->grid_name));
    return typeset_row(t, &r);
}

/* --- powers, products, sums ------------------------------------------------------------------- */

static const struct hg_box *exponent(struct typeset *t, hg_wid id)
{
    int outer = t->script;
    t->script = 1;
    const struct hg_box *b = expression(t, id);
    t->script = outer;
    return b;
}

static const struct hg_box *power(struct typeset *t, const struct hg_written *w)
{
    const struct hg_written *base = hg_written_at(t->m, w->arg[0]), *e = hg_written_at(t->m, w->arg[1]);
    int whole = e->word == HG_W_NUMBER && e->value == floor(e->value) && e->value > 1 && e->value < 10;
    if (hg_written_is(t->m, w->arg[1], 0.5)) {
        const struct hg_box *x = expression(t, w->arg[0]);
        return box(t, HG_BOX_ROOT, NULL, NULL, 1, &x);
    }
    const struct hg_function *f =
        base->word == HG_W_FUNCTION && base->rank == HG_UNNAMED ? find_function(base->op) : NULL;
    if (whole && f && f->power)
        return function_call(t, base->op, base->arg[0], exponent(t, w->arg[1]));
    struct term x = term(t, w->arg[0]);
    int number = base->word == HG_W_NUMBER && x.box->kind != HG_BOX_NUMBER && x.box->kind != HG_BOX_LETTER;
    int plain = x.level == ATOM_LEVEL && !x.negative && !number && x.box->kind != HG_BOX_SUP &&
                x.box->kind != HG_BOX_SUBSUP && x.box->kind != HG_BOX_CASES && x.box->kind != HG_BOX_FRACTION &&
                (base->rank != HG_UNNAMED || (base->word != HG_W_FUNCTION && base->word != HG_W_INTEGRAL));
    return with_power(t, plain ? x.box : typeset_fence(t, "()", expression(t, w->arg[0])), exponent(t, w->arg[1]));
}

int typeset_shown_by_name(const struct typeset *t, hg_wid id)
{
    return id != t->root && hg_written_is_named(t->m, id);
}

static void put_factor(struct product *p, const struct hg_box *b, enum level level)
{
    p->level = hg_grow(p->factor.a, p->level, p->factor.n, p->factor.n + 1, sizeof *p->level, &p->room);
    p->level[p->factor.n] = level;
    typeset_put(&p->factor, b);
}

static void fraction(struct typeset *t, struct product *p, hg_wid above, hg_wid below);

static void collect(struct typeset *t, struct product *p, hg_wid id)
{
    const struct hg_written w = *hg_written_at(t->m, id);
    if (!typeset_shown_by_name(t, id) && w.word == HG_W_MUL) {
        collect(t, p, w.arg[0]);
        collect(t, p, w.arg[1]);
    } else if (!typeset_shown_by_name(t, id) && w.word == HG_W_NEG) {
        p->coefficient = -p->coefficient;
        collect(t, p, w.arg[0]);
    } else if (!typeset_shown_by_name(t, id) && w.word == HG_W_SAME) {
        collect(t, p, w.arg[0]);
    } else if (!typeset_shown_by_name(t, id) && w.word == HG_W_DIV) {
        fraction(t, p, w.arg[0], w.arg[1]);
    } else if (w.word == HG_W_NUMBER) {
        p->coefficient *= w.value;
    } else {
        struct term x = term(t, id);
        if (x.negative)
            p->coefficient = -p->coefficient;
        put_factor(p, x.box, x.level);
    }
}

static const struct hg_box *join(struct typeset *t, const struct product *p);

static int is_unit(const struct hg_model *m, hg_wid id)
{
    return hg_written_at(m, id)->word == HG_W_UNIT;
}

struct product typeset_product_of(struct typeset *t, hg_wid id)
{
    struct product p = {.coefficient = 1, .factor = {.a = t->a}};
    collect(t, &p, id);
    return p;
}

static enum level level_of(const struct product *p)
{
    int plain = fabs(p->coefficient) == 1 || p->factor.n == 0; /* 1 exactly: nothing but the factor */
    if (p->factor.n > 1 || !plain)
        return PRODUCT_LEVEL;
    return p->factor.n ? p->level[0] : ATOM_LEVEL;
}

/* above / below as one factor */
static void fraction(struct typeset *t, struct product *p, hg_wid above, hg_wid below)
{
    struct product x = typeset_product_of(t, above), y = typeset_product_of(t, below);
    if (x.coefficient < 0)
        p->coefficient = -p->coefficient;
    if (y.coefficient < 0)
        p->coefficient = -p->coefficient;
    x.coefficient = fabs(x.coefficient);
    y.coefficient = fabs(y.coefficient);
    double ratio = x.coefficient / y.coefficient;
    if (x.coefficient != 1 && ratio == floor(ratio) && ratio > 0) { /* 50 x / 50 of a derivative */
        x.coefficient = ratio;
        y.coefficient = 1;
    }
    if (y.coefficient == 1 && y.factor.n == 0) {
        p->coefficient *= x.coefficient;
        for (uint32_t k = 0; k < x.factor.n; k++)
            put_factor(p, x.factor.item[k], x.level[k]);
        return;
    }
    if (!t->script && !is_unit(t->m, below)) {
        put_factor(p, typeset_two(t, HG_BOX_FRACTION, join(t, &x), join(t, &y)), ATOM_LEVEL);
        return;
    }
    struct row r = {.a = t->a};
    typeset_put(&r, level_of(&x) == SUM_LEVEL ? typeset_fence(t, "()", join(t, &x)) : join(t, &x));
    typeset_put(&r, typeset_leaf(t, HG_BOX_PREFIX, "/", NULL));
    typeset_put(&r, level_of(&y) != ATOM_LEVEL ? typeset_fence(t, "()", join(t, &y)) : join(t, &y));
    put_factor(p, typeset_row(t, &r), PRODUCT_LEVEL);
}

/* The product as a row; the sign of the coefficient is the caller's. */
static const struct hg_box *join(struct typeset *t, const struct product *p)
{
    struct row r = {.a = t->a};
    double c = fabs(p->coefficient);
    int one = p->factor.n == 1 && c == 1; /* the literals 0 and 1 */
    if (c == 0 || p->factor.n == 0 || c != 1)
        typeset_put(&r, hg_typeset_number(t->a, c));
    for (uint32_t k = 0; k < p->factor.n && c != 0; k++) {
        const struct hg_box *b = p->factor.item[k];
        int loose = p->level[k] == SUM_LEVEL || (p->level[k] == PRODUCT_LEVEL && k + 1 < p->factor.n);
        if (r.n)
            typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
        typeset_put(&r, loose && !one ? typeset_fence(t, "()", b) : b);
    }
    return typeset_row(t, &r);
}

static struct term product_term(struct typeset *t, hg_wid id)
{
    struct product p = typeset_product_of(t, id);
    return (struct term){join(t, &p), level_of(&p), p.coefficient < 0};
}

static void add_terms(struct typeset *t, struct sum *s, hg_wid id, int negative)
{
    const struct hg_written w = *hg_written_at(t->m, id);
    int open = !typeset_shown_by_name(t, id);
    if (open && (w.word == HG_W_ADD || w.word == HG_W_SUB)) {
        if (!hg_written_is(t->m, w.arg[0], 0)) /* where a loop began to add */
            add_terms(t, s, w.arg[0], negative);
        if (!hg_written_is(t->m, w.arg[1], 0) || s->box.n == 0)
            add_terms(t, s, w.arg[1], negative != (w.word == HG_W_SUB));
        return;
    }
    struct term x = term(t, id);
    if (x.level == SUM_LEVEL && x.box->kind != HG_BOX_CASES)
        x.box = typeset_fence(t, "()", x.box);
    s->negative = hg_grow(t->a, s->negative, s->box.n, s->box.n + 1, sizeof *s->negative, &s->room);
    s->term = hg_grow(t->a, s->term, s->box.n, s->box.n + 1, sizeof *s->term, &s->term_room);
    s->negative[s->box.n] = negative != x.negative;
    s->term[s->box.n] = id;
    typeset_put(&s->box, x.box);
}

struct sum typeset_sum_of(struct typeset *t, hg_wid id)
{
    struct sum s = {.box = {.a = t->a}};
    add_terms(t, &s, id, 0);
    return s;
}

static struct term sum_term(struct typeset *t, hg_wid id)
{
    struct sum s = typeset_sum_of(t, id);
    struct row r = {.a = t->a};
    for (uint32_t k = 0; k < s.box.n; k++) {
        if (s.negative[k])
            typeset_put(&r, typeset_minus(t, k == 0));
        else if (k)
            typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "+", NULL));
        typeset_put(&r, s.box.item[k]);
    }
    return (struct term){typeset_row(t, &r), SUM_LEVEL, 0};
}

static struct term term(struct typeset *t, hg_wid id)
{
    const struct hg_written w = *hg_written_at(t->m, id);
    struct term x = {.level = ATOM_LEVEL};
    if (t->boxes > MAX_BOXES)
        return (struct term){typeset_leaf(t, HG_BOX_WORD, "…", "\\dots"), ATOM_LEVEL, 0};
    if (typeset_shown_by_name(t, id))
        return (struct term){typeset_part_name(t, id), ATOM_LEVEL, 0};
    switch (w.word) {
    case HG_W_NUMBER:
        x.box = hg_typeset_number(t->a, fabs(w.value));
        x.negative = w.value < 0;
        return x;
    case HG_W_UNIT:
        x.box = hg_typeset_unit(t->a, hg_unit_text(t->m->units, w.unit));
        if (!x.box)
            x.box = typeset_leaf(t, HG_BOX_NUMBER, "1", NULL);
        return x;
    case HG_W_SYMBOL: x.box = typeset_symbol(t, w.node); return x;
    case HG_W_ADD:
    case HG_W_SUB: return sum_term(t, id);
    case HG_W_MUL:
    case HG_W_DIV:
    case HG_W_SAME:
    case HG_W_NEG: return product_term(t, id);
    case HG_W_POW: x.box = power(t, &w); return x;
    case HG_W_FUNCTION:
        x.box = hg_many(w.op) ? many_call(t, &w) : function_call(t, w.op, w.arg[0], NULL);
        return x;
    case HG_W_ATAN2: x.box = call_two(t, "atan2", "\\operatorname{atan2}", w.arg[0], w.arg[1]); return x;
    case HG_W_LT:
    case HG_W_LE:
    case HG_W_GT: x.box = condition(t, id); return x;
    case HG_W_WHERE:
        x.box = choice(t, id);
        x.level = x.box->kind == HG_BOX_CASES ? SUM_LEVEL : ATOM_LEVEL; /* in parentheses beside others */
        return x;
    case HG_W_INTEGRAL: x.box = integral(t, &w); return x;
    case HG_W_TOTAL:
    case HG_W_OVER:
        x.box = over_bound(t, &w);
        x.level = PRODUCT_LEVEL; /* in parentheses before other factors */
        return x;
    case HG_W_MEAN: x.box = mean_over(t, &w); return x;
    case HG_W_AT: {
        const struct hg_box *outer = t->time;
        t->time = expression(t, w.arg[1]);
        x = term(t, w.arg[0]);
        t->time = outer;
        return x;
    }
    case HG_W_WHEN: x.box = typeset_fence(t, "[]", condition(t, w.arg[0])); return x;
    case HG_W_REF: x.box = typeset_part_name(t, w.arg[0]); return x;
    case HG_W_SLOPE: x.box = typeset_partial(t, typeset_part_name(t, w.arg[0]), typeset_symbol(t, w.node)); return x;
    }
    hg_bug("typeset: word %d", (int)w.word);
}

static const struct hg_box *expression(struct typeset *t, hg_wid id)
{
    struct term x = term(t, id);
    return x.negative ? typeset_two(t, HG_BOX_ROW, typeset_minus(t, 1), x.box) : x.box;
}

/* The same as a factor. */
static const struct hg_box *factor(struct typeset *t, hg_wid id)
{
    struct term x = term(t, id);
    return x.negative || x.level == SUM_LEVEL ? typeset_fence(t, "()", expression(t, id)) : x.box;
}
