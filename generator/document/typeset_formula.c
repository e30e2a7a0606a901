/* typeset_formula.c -- whole formulas: the observed quantity, a named part, a derivative. */
#include <math.h>

#include "document/typeset_private.h"

enum { PIECE = 30 /* letters: wider products may be broken */ };

const struct hg_box *hg_typeset_symbol(struct hg_model *m, const struct hg_symbol_decl *s)
{
    struct typeset t = {.m = m, .a = m->expr->arena};
    return typeset_declared(&t, s);
}

/* Adds a wide product as several pieces of at least one factor each; the later ones follow a multiplication sign. */
static void put_product(struct typeset *t, hg_wid id, struct row *first, struct row *all)
{
    struct product p = typeset_product_of(t, id);
    struct row r = *first;
    double width = 0;
    if (fabs(p.coefficient) != 1) { /* 1 exactly: not shown */
        typeset_put(&r, hg_typeset_number(t->a, fabs(p.coefficient)));
        typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
    }
    for (uint32_t k = 0; k < p.factor.n; k++) {
        const struct hg_box *b = p.factor.item[k];
        if (p.level[k] == SUM_LEVEL && p.factor.n > 1)
            b = typeset_fence(t, "()", b);
        width += hg_box_width(b);
        if (width > PIECE && k) {
            typeset_put(all, typeset_row(t, &r));
            r = (struct row){.a = t->a};
            typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "×", "\\times"));
            width = hg_box_width(b);
        } else if (k) {
            typeset_put(&r, typeset_leaf(t, HG_BOX_THIN, NULL, NULL));
        }
        typeset_put(&r, b);
    }
    typeset_put(all, typeset_row(t, &r));
}

/* The right side in pieces: its terms, each with its sign, the first after "=". */
static void pieces(struct typeset *t, hg_wid id, struct hg_formula *f)
{
    struct row all = {.a = t->a};
    int deep = hg_written_at(t->m, id)->depth > HG_WRITTEN_DEEP;
    struct sum s = deep ? (struct sum){.box = {.n = 1}} : typeset_sum_of(t, id);
    for (uint32_t k = 0; k < s.box.n; k++) {
        struct row r = {.a = t->a};
        if (k == 0)
            typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "=", NULL));
        if (deep) {
            typeset_put(&r, typeset_leaf(t, HG_BOX_TEXT, "(too long to be shown)", NULL));
            typeset_put(&all, typeset_row(t, &r));
            continue;
        }
        if (s.negative[k])
            typeset_put(&r, typeset_minus(t, k == 0));
        else if (k)
            typeset_put(&r, typeset_leaf(t, HG_BOX_SIGN, "+", NULL));
        enum hg_word w = hg_written_at(t->m, s.term[k])->word;
        int product = !typeset_shown_by_name(t, s.term[k]) && (w == HG_W_MUL || w == HG_W_NEG || w == HG_W_DIV);
        if (product && hg_box_width(s.box.item[k]) > PIECE) {
            put_product(t, s.term[k], &r, &all);
        } else {
            typeset_put(&r, s.box.item[k]);
            typeset_put(&all, typeset_row(t, &r));
        }
    }
    f->piece = all.item;
    f->n = all.n;
}

static const struct hg_box *observed(struct typeset *t)
{
    struct hg_model *m = t->m;
    struct row r = {.a = t->a};
    for (uint32_t k = 0; k < m->axis.n + m->column.n; k++) {
        const struct hg_symbol_decl *s = k < m->axis.n ? &m->axis.item[k] : &m->column.item[k - m->axis.n];
        if (k >= m->axis.n && s->role != FIT_ROLE_COVARIATE)
            continue;
        if (r.n)
            typeset_put(&r, typeset_leaf(t, HG_BOX_COMMA, ",", NULL));
        typeset_put(&r, typeset_declared(t, s));
    }
    for (int k = 0; m->space == FIT_PAIRS && k < 2; k++) {
        if (r.n)
            typeset_put(&r, typeset_leaf(t, HG_BOX_COMMA, ",", NULL));
        typeset_put(&r, typeset_pair_time(t, k));
    }
    return typeset_call(t, hg_typeset_name(t->a, m->observable), typeset_row(t, &r));
}

void hg_typeset_mean(struct hg_model *m, hg_wid mean, struct hg_formula *f)
{
    struct typeset t = {.m = m, .a = m->expr->arena, .root = mean};
    f->left = observed(&t);
    pieces(&t, mean, f);
}

void hg_typeset_part(struct hg_model *m, hg_wid part, const char *name, struct hg_formula *f)
{
    struct typeset t = {.m = m, .a = m->expr->arena, .root = part};
    f->left = hg_written_is_named(m, part) ? typeset_part_name(&t, part) : hg_typeset_name(t.a, name);
    pieces(&t, part, f);
}

const struct hg_box *hg_typeset_name_of(struct hg_model *m, hg_wid part)
{
    struct typeset t = {.m = m, .a = m->expr->arena};
    return typeset_part_name(&t, part);
}

void hg_typeset_slope(struct hg_model *m, hg_wid part, hg_wid slope, hg_id node, int many, struct hg_formula *f)
{
    struct typeset t = {.m = m, .a = m->expr->arena, .many = many ? node : 0};
    const struct hg_box *of = part ? typeset_part_name(&t, part) : hg_typeset_name(t.a, m->observable);
    f->left = typeset_partial(&t, of, typeset_symbol(&t, node));
    pieces(&t, slope, f);
}

int hg_typeset_uses(struct hg_model *m, hg_wid root, enum hg_word what, enum hg_op op)
{
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)root + 1, 1);
    int found = 0;
    need[root] = 1;
    for (hg_wid id = root; id > 0 && !found; id--) {
        const struct hg_written *w = hg_written_at(m, id);
        if (!need[id])
            continue;
        found = w->word == what && w->op == op;
        for (uint32_t k = 0; k < w->nargs; k++)
            need[w->arg[k]] = 1;
    }
    return found;
}
